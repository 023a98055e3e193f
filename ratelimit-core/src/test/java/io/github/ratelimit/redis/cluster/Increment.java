package io.github.ratelimit.redis.cluster;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Codec;
import io.github.ratelimit.redis.connection.Servers;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * Adds one to a number in Redis, so that it shows if that is done twice.
 */
final class Increment extends Call {

	private static final Duration TIME = Duration.ofSeconds(20);

	private static final Codec CODEC = new Increments();

	private final List<String> keys;

	Increment(Servers servers, Duration time, String... keys) {
		super(CODEC, servers.slot(SafeEncoder.encode(keys[0])), System.nanoTime() + time.toNanos());
		this.keys = List.of(keys);
	}

	/** Does it, and returns the number. */
	static long of(Servers servers, String... keys) {
		return submit(servers, TIME, keys).number();
	}

	static Increment submit(Servers servers, Duration time, String... keys) {
		Increment call = new Increment(servers, time, keys);
		servers.submit(call);
		return call;
	}

	/** Waits for the number. */
	long number() {
		return (Long) await();
	}

	@Override
	public int work() {
		return this.keys.size();
	}

	private static final class Increments implements Codec {

		private static final String SCRIPT = "local numbers = {} "
				+ "for i, key in ipairs(KEYS) do numbers[i] = redis.call('INCR', key) end return numbers";

		private static final String HASH = sha1();

		private static String sha1() {
			try {
				byte[] hash = MessageDigest.getInstance("SHA-1").digest(SCRIPT.getBytes(StandardCharsets.UTF_8));
				return HexFormat.of().formatHex(hash);
			}
			catch (NoSuchAlgorithmException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			List<String> keys = calls.stream().flatMap((call) -> ((Increment) call).keys.stream()).toList();
			CommandArguments command = new CommandArguments(source ? Command.EVAL : Command.EVALSHA)
				.add(source ? SCRIPT : HASH)
				.add(keys.size());
			keys.forEach(command::key);
			return List.of(command);
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			if (replies.get(0) instanceof JedisException error) {
				calls.forEach((call) -> call.fail(error));
				return;
			}
			List<?> numbers = new ArrayList<>((List<?>) replies.get(0));
			for (Call call : calls) {
				call.complete(numbers.get(0));
				numbers.subList(0, ((Increment) call).keys.size()).clear();
			}
		}

	}

}
