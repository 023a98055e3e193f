package io.github.ratelimit.redis;

import java.util.function.Supplier;

import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.OwnConnections.UnreachableException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Translates exceptions of Jedis into those of a store, and so tells a store that is
 * busy, or silent for a moment, from one that fails.
 */
final class Failures {

	private Failures() {
	}

	/**
	 * Calls Redis, for a purpose that messages name.
	 * @throws StoreException if Redis fails
	 */
	static <T> T translate(String purpose, Supplier<T> call) {
		try {
			return call.get();
		}
		catch (JedisException ex) {
			String message = "Redis failed to " + purpose;
			throw isBusy(ex) ? new StoreBusyException(message, ex, place(ex))
					: new StoreException(message, ex, place(ex));
		}
	}

	/** Returns the innermost message that names a server, unless nothing is below. */
	private static String place(JedisException ex) {
		String place = "";
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause.getCause() != null && (cause instanceof UnreachableException
					|| cause instanceof CallException call && call.reason() == Reason.NODE)) {
				place = String.valueOf(cause.getMessage());
			}
		}
		return place;
	}

	static void run(String purpose, Runnable call) {
		translate(purpose, () -> {
			call.run();
			return purpose;
		});
	}

	/** Whether time was too short or a connection broke, with no sign of an outage. */
	private static boolean isBusy(@Nullable Throwable ex) {
		if (ex instanceof CallException call) {
			return switch (call.reason()) {
				case TOO_LATE, QUEUE_FULL, UNANSWERED -> true;
				case OUTAGE, SILENCE -> call.isBrief();
				case NODE -> isBusy(call.getCause());
			};
		}
		// Redis would be gone if a new connection could not be made.
		return ex instanceof JedisConnectionException;
	}

}
