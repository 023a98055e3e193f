package io.github.ratelimit.redis;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Until when the present thread may wait for Redis.
 */
final class Deadline {

	/** Nothing is waited for until then. */
	private static final long NONE = Long.MIN_VALUE;

	/** A box that is written again for each decision. */
	private static final ThreadLocal<long[]> OF_THREAD = ThreadLocal.withInitial(() -> new long[] { NONE });

	private Deadline() {
	}

	static void set(Duration budget) {
		long deadline = System.nanoTime() + budget.toNanos();
		OF_THREAD.get()[0] = (deadline != NONE) ? deadline : deadline + 1;
	}

	static void clear() {
		OF_THREAD.get()[0] = NONE;
	}

	/** Gives the present thread this long, if it has a deadline that is sooner. */
	static void extend(Duration least) {
		if (remaining(least).compareTo(least) < 0) {
			set(least);
		}
	}

	/**
	 * Returns how long the present thread may still wait.
	 * @param otherwise what it may if it has no deadline
	 * @return zero if the time is over
	 */
	static Duration remaining(Duration otherwise) {
		long deadline = OF_THREAD.get()[0];
		return (deadline == NONE) ? otherwise : Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
	}

	/**
	 * Returns how long the present thread may still wait.
	 * @param otherwise milliseconds if it has no deadline
	 * @return milliseconds, at least 1
	 * @throws SocketTimeoutException if the time is over
	 */
	static int remainingMillis(int otherwise) throws SocketTimeoutException {
		long deadline = OF_THREAD.get()[0];
		if (deadline == NONE) {
			return otherwise;
		}
		long nanos = deadline - System.nanoTime();
		if (nanos <= 0) {
			throw new TimeUsedUpException();
		}
		return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
	}

}
