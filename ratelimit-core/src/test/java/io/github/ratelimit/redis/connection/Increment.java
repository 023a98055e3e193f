package io.github.ratelimit.redis.connection;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * Counts a Redis key, by a script or by a plain command.
 */
final class Increment extends Call {

	static final String SCRIPT = "return redis.call('INCR', KEYS[1])";

	/** Sends a command for each call. */
	static final Codec PLAIN = new Plain();

	private final String key;

	private final int work;

	private volatile Object late;

	Increment(Codec codec, String key, Duration budget) {
		this(codec, 0, key, budget);
	}

	Increment(Codec codec, int slot, String key, Duration budget) {
		this(codec, slot, key, budget, 1);
	}

	Increment(Codec codec, int slot, String key, Duration budget, int work) {
		super(codec, slot, System.nanoTime() + budget.toNanos());
		this.key = key;
		this.work = work;
	}

	/** Counts, and returns the count. */
	static long of(Servers servers, String key, Duration budget) {
		Increment call = new Increment(PLAIN, key, budget);
		servers.submit(call);
		return (Long) call.await();
	}

	@Override
	public int work() {
		return this.work;
	}

	@Override
	protected void answeredLate(Object answer) {
		this.late = answer;
	}

	/** What came when nobody waited any more. */
	Object late() {
		return this.late;
	}

	private static void deliverEach(List<Call> calls, List<Object> replies) {
		for (int i = 0; i < calls.size(); i++) {
			if (replies.get(i) instanceof JedisDataException error) {
				calls.get(i).fail(error);
			}
			else {
				calls.get(i).complete(replies.get(i));
			}
		}
	}

	private static final class Plain implements Codec {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return calls.stream()
				.map((call) -> new CommandArguments(Command.INCR).add(((Increment) call).key))
				.toList();
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			deliverEach(calls, replies);
		}

	}

	/** Sends a script for each call, and notes how. */
	static final class ByScript implements Codec {

		/** How many calls were sent at a time, less than 0 with the source. */
		final List<Integer> sizes = new ArrayList<>();

		private final String script;

		ByScript(String script) {
			this.script = script;
		}

		@Override
		public synchronized List<CommandArguments> commands(List<Call> calls, boolean source) {
			this.sizes.add(source ? -calls.size() : calls.size());
			return calls.stream().map((call) -> command(((Increment) call).key, source)).toList();
		}

		private CommandArguments command(String key, boolean source) {
			return source ? new CommandArguments(Command.EVAL).add(this.script).add(1).add(key)
					: new CommandArguments(Command.EVALSHA).add(sha1(this.script)).add(1).add(key);
		}

		private static String sha1(String text) {
			try {
				byte[] hash = MessageDigest.getInstance("SHA-1").digest(SafeEncoder.encode(text));
				return HexFormat.of().formatHex(hash);
			}
			catch (NoSuchAlgorithmException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			deliverEach(calls, replies);
		}

	}

}
