package io.github.ratelimit.redis;

import java.util.function.Supplier;

import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.connection.CallException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Translates exceptions of Jedis into those of a store.
 */
final class Failures {

	private Failures() {
	}

	/**
	 * Calls Redis.
	 * @param purpose what for, in messages
	 * @throws StoreException if Redis fails
	 */
	static <T> T translate(String purpose, Supplier<T> call) {
		try {
			return call.get();
		}
		catch (JedisException ex) {
			String message = "Redis failed to " + purpose;
			throw isBusy(ex) ? new StoreBusyException(message, ex) : new StoreException(message, ex);
		}
	}

	static void run(String purpose, Runnable call) {
		translate(purpose, () -> {
			call.run();
			return purpose;
		});
	}

	/** Whether time was too short without a sign of an outage of Redis. */
	private static boolean isBusy(JedisException ex) {
		return ex instanceof CallException call && switch (call.reason()) {
			case TOO_LATE, QUEUE_FULL, UNANSWERED -> true;
			case OUTAGE, SILENCE, NODE -> false;
		};
	}

}
