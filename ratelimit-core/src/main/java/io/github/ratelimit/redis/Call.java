package io.github.ratelimit.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Something that a server is asked to do, and what became of it. For one thread.
 */
final class Call {

	private final String key;

	private CommandObject<?> command;

	private final @Nullable CommandObject<?> whole;

	private @Nullable Object reply;

	private @Nullable JedisException failure;

	/**
	 * Creates a call.
	 * @param key a Redis key of the command
	 * @param command what is asked first
	 * @param whole what is asked if the server does not know the script of the first
	 */
	private Call(String key, CommandObject<?> command, @Nullable CommandObject<?> whole) {
		this.key = key;
		this.command = command;
		this.whole = whole;
	}

	/** A command with a Redis key. */
	static Call of(String key, CommandObject<?> command) {
		return new Call(key, command, null);
	}

	/** Deletes a Redis key. */
	static Call delete(String key) {
		return of(key, new CommandObject<>(new CommandArguments(Command.DEL).key(key), BuilderFactory.LONG));
	}

	/** Runs a script by its hash. */
	static Call script(String sha1, String source, List<String> keys, List<String> arguments) {
		return new Call(keys.get(0), script(Command.EVALSHA, sha1, keys, arguments),
				script(Command.EVAL, source, keys, arguments));
	}

	private static CommandObject<Object> script(Command command, String script, List<String> keys,
			List<String> arguments) {
		return new CommandObject<>(
				new CommandArguments(command).add(script).add(keys.size()).keys(keys).addObjects(arguments),
				BuilderFactory.AGGRESSIVE_ENCODED_OBJECT);
	}

	String key() {
		return this.key;
	}

	CommandObject<?> command() {
		return this.command;
	}

	/**
	 * Changes to what holds the text of the script.
	 * @return whether there is such a thing, and it was not asked yet
	 */
	boolean useWhole() {
		if (this.whole == null || this.command == this.whole) {
			return false;
		}
		this.command = this.whole;
		return true;
	}

	void answered(@Nullable Object reply) {
		this.reply = reply;
	}

	/** Takes in why it failed, in whichever way a client does. */
	void fail(Throwable failure) {
		this.failure = UnreadableReplyException.of(ErrorText.withoutKeys(failure));
	}

	/** Why it failed; {@code null} if it did not. */
	@Nullable JedisException failure() {
		return this.failure;
	}

	/**
	 * Returns the answer.
	 * @throws JedisException if it failed
	 */
	@Nullable Object reply() {
		if (this.failure != null) {
			throw this.failure;
		}
		return this.reply;
	}

}
