package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.ErrorText;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A script for any number of requests of one shape.
 */
final class Script implements Carrier {

	private final String lua;

	private final byte[] source;

	private final byte[] hash;

	/** How many numbers come with a request. */
	final int numbers;

	/** Whether requests come with their metadata. */
	final boolean metadata;

	/** Whether requests come with their {@link RateLimitRequest#call()}. */
	final boolean call;

	/** How long a request occupies the server, as {@link Shape#work()}. */
	final int work;

	/**
	 * Creates a script.
	 * @param numbers the names of the numbers that come with a request
	 */
	Script(String lua, Set<String> numbers, int work) {
		this.lua = lua;
		this.source = lua.getBytes(StandardCharsets.UTF_8);
		this.hash = sha1(this.source).getBytes(StandardCharsets.US_ASCII);
		this.numbers = numbers.size();
		this.metadata = numbers.contains("length_");
		this.call = numbers.contains("call");
		this.work = work;
	}

	/** Reads a script that is not composed, by the name of its resource. */
	static Script named(String name) {
		return new Script(Fragment.text(Script.class, name + ".lua"), Set.of(), 1);
	}

	CommandArguments command(boolean source) {
		return source ? new CommandArguments(Command.EVAL).add(this.source)
				: new CommandArguments(Command.EVALSHA).add(this.hash);
	}

	@Override
	public List<CommandArguments> commands(List<Call> calls, boolean source) {
		CommandArguments command = command(source);
		command.add(calls.size() * ((ScriptCall) calls.get(0)).keys.size());
		for (Call call : calls) {
			((ScriptCall) call).keys.forEach(command::add);
		}
		for (Call call : calls) {
			command.add(((ScriptCall) call).argument);
		}
		return List.of(command);
	}

	@Override
	public void deliver(List<Call> calls, List<Object> replies) {
		Object reply = replies.get(0);
		if (reply instanceof List<?> answers && answers.size() == calls.size()) {
			for (int i = 0; i < answers.size(); i++) {
				deliver(calls.get(i), answers.get(i));
			}
			return;
		}
		JedisException failure = (reply instanceof JedisException ex) ? ex : Answer.invalid(reply);
		calls.forEach((call) -> call.fail(failure));
	}

	private static void deliver(Call call, @Nullable Object answer) {
		if (answer instanceof byte[] bytes && bytes.length > 0 && bytes[0] > 1) {
			call.fail(ErrorText.caught(new String(bytes, StandardCharsets.UTF_8)));
		}
		else {
			call.complete(answer);
		}
	}

	private static String sha1(byte[] source) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(source));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java runtime has SHA-1", ex);
		}
	}

	@Override
	public String toString() {
		return this.lua;
	}

}
