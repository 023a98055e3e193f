package io.github.ratelimit.redis.connection;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * Adds one to numbers in Redis, so that it shows if that is done twice.
 */
public final class Increment extends Call {

	/** Longer than any machine is busy. */
	public static final Duration LONG = Duration.ofSeconds(60);

	/** Sends a command for each call. */
	static final Codec PLAIN = new Plain();

	/** Sends a command for all calls, which only one node of a cluster executes. */
	private static final Codec SCRIPT = new ByScript("");

	private final List<String> keys;

	private final int work;

	private volatile Object late;

	Increment(Codec codec, int slot, Duration budget, int work, String... keys) {
		super(codec, slot, System.nanoTime() + budget.toNanos());
		this.work = work;
		this.keys = List.of(keys);
	}

	/** Does it, and returns the number of the first Redis key. */
	public static long of(Servers servers, String... keys) {
		return submit(servers, LONG, keys).number();
	}

	public static Increment submit(Servers servers, Duration budget, String... keys) {
		int slot = servers.slot(SafeEncoder.encode(keys[0]));
		return submit(servers, new Increment(servers.haveSlots() ? SCRIPT : PLAIN, slot, budget, keys.length, keys));
	}

	static Increment submit(Servers servers, Codec codec, String key) {
		return submit(servers, new Increment(codec, 0, LONG, 1, key));
	}

	private static Increment submit(Servers servers, Increment call) {
		servers.submit(call);
		return call;
	}

	/** Waits for the number. */
	public long number() {
		return (Long) await();
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

	private static final class Plain implements Codec {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return calls.stream()
				.map((call) -> new CommandArguments(Command.INCR).add(((Increment) call).keys.get(0)))
				.toList();
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			for (int i = 0; i < calls.size(); i++) {
				if (replies.get(i) instanceof JedisException error) {
					calls.get(i).fail(error);
				}
				else {
					calls.get(i).complete(replies.get(i));
				}
			}
		}

	}

	/** Sends a script for all calls, and notes how. */
	static final class ByScript implements Codec {

		/** The work that was sent at a time, less than 0 with the source. */
		final List<Integer> works = new ArrayList<>();

		private final String script;

		private final String hash;

		/**
		 * Creates one with a script of its own.
		 * @param more is added to the script
		 */
		ByScript(String more) {
			this.script = "local numbers = {} for i, key in ipairs(KEYS) do numbers[i] = redis.call('INCR', key) end "
					+ more + " return numbers";
			try {
				MessageDigest digest = MessageDigest.getInstance("SHA-1");
				this.hash = HexFormat.of().formatHex(digest.digest(this.script.getBytes(StandardCharsets.UTF_8)));
			}
			catch (NoSuchAlgorithmException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public synchronized List<CommandArguments> commands(List<Call> calls, boolean source) {
			int work = calls.stream().mapToInt(Call::work).sum();
			this.works.add(source ? -work : work);
			List<String> keys = calls.stream().flatMap((call) -> ((Increment) call).keys.stream()).toList();
			CommandArguments command = new CommandArguments(source ? Command.EVAL : Command.EVALSHA)
				.add(source ? this.script : this.hash)
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
