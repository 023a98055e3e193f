package io.github.ratelimit.redis.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Codec;
import io.github.ratelimit.redis.connection.ErrorText;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.Protocol.Keyword;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A script for any number of requests of one shape.
 */
public final class Script implements Codec {

	private final String lua;

	private final byte[] source;

	private final byte[] hash;

	/** Whether a server, or a node of a cluster, has received the source before. */
	private volatile boolean sent;

	final int numbers;

	final boolean metadata;

	final boolean call;

	private final int work;

	/**
	 * @param numbers the names of the numbers that come with a request
	 * @param work how long a request occupies the server, as {@link Shape#work()}
	 */
	public Script(String lua, Set<String> numbers, int work) {
		this.lua = lua;
		this.source = lua.getBytes(StandardCharsets.UTF_8);
		this.hash = HexFormat.of()
			.formatHex(RedisKeys.digest("SHA-1", this.source, null))
			.getBytes(StandardCharsets.US_ASCII);
		this.numbers = numbers.size();
		this.metadata = numbers.contains("length_");
		this.call = numbers.contains("call");
		this.work = work;
	}

	static Script named(String name) {
		return new Script(read(Script.class, name + ".lua"), Set.of(), 1);
	}

	public int work() {
		return this.work;
	}

	/**
	 * @throws IllegalArgumentException if there is none beside the class
	 */
	public static String read(Class<?> neighbour, String file) {
		try (InputStream resource = neighbour.getResourceAsStream(file)) {
			if (resource == null) {
				throw new IllegalArgumentException("Invalid algorithm (%s): there is no script %s beside it."
					.formatted(neighbour.getName(), file));
			}
			return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	CommandArguments command(boolean source) {
		return source ? new CommandArguments(Command.EVAL).add(this.source)
				: new CommandArguments(Command.EVALSHA).add(this.hash);
	}

	/**
	 * Has the script kept if its source is sent again, even to another node: recent
	 * servers forget all but 500 scripts that came by {@code EVAL}, but none that was
	 * loaded. Where loading is forbidden, it is as if it had not been tried.
	 */
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
		if (source && this.sent) {
			return List.of(new CommandArguments(Command.SCRIPT).add(Keyword.LOAD).add(this.source), command);
		}
		this.sent |= source;
		return List.of(command);
	}

	@Override
	public void deliver(List<Call> calls, List<Object> replies) {
		Object reply = replies.get(replies.size() - 1);
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

	@Override
	public String toString() {
		return this.lua;
	}

}
