package io.github.ratelimit;

import java.time.Instant;
import java.util.List;

/**
 * The state of one policy and identifier at one time, and how it changes. The store in
 * memory decides with it, and tests compare the script of the algorithm with it. Limits
 * are given by their index in the policy. All times are in microseconds. Not safe for use
 * by several threads.
 */
public interface Meter {

	/**
	 * Returns a time in microseconds since the epoch. Every store reads its clock by
	 * this, so that all times are in a range that it can calculate with.
	 * @param time from 1970 until 2<sup>53</sup> microseconds later, in the year 2255
	 * @throws IllegalArgumentException if the time is out of range
	 */
	static long micros(Instant time) {
		long seconds = time.getEpochSecond();
		if (seconds < 0 || seconds > Limit.MAX_QUOTA / 1_000_000
				|| seconds * 1_000_000 + time.getNano() / 1000 > Limit.MAX_QUOTA) {
			throw new IllegalArgumentException(
					"Invalid time (%s): must be from 1970-01-01T00:00:00Z to 2255-06-05T23:47:34.740991Z; check the clock."
						.formatted(time));
		}
		return seconds * 1_000_000 + time.getNano() / 1000;
	}

	/**
	 * Returns this meter for the {@linkplain RateLimitRequest#call() call} of a request,
	 * for algorithms that {@linkplain Algorithm#countsCalls() count calls}: {@link #add}
	 * enters the call, {@link #charge} renews it, and {@link #refund} removes it.
	 */
	default Meter ofCall(long call) {
		return this;
	}

	/**
	 * Returns the shortest time after which a limit would allow the cost, if nothing else
	 * happens; 0 if it allows it now.
	 * @param limit the index of the limit
	 * @param cost at least 1, and at most what the limit can ever allow
	 */
	long retryAfter(int limit, long cost);

	/**
	 * Adds the cost to every limit, even to one that does not allow it, because a policy
	 * may count denied requests.
	 * @param cost at least 1, and at most the largest cost that any limit can ever allow;
	 * a limit that can never allow so much is used up
	 * @param metadata text to keep with the request; may be empty
	 */
	void add(long cost, String metadata);

	/** Adds the cost beyond the quota too if the algorithm can, as it may be refunded. */
	default void charge(long cost, String metadata) {
		add(cost, metadata);
	}

	/** Refunds a cost of at least 1 to every limit, but never more than was used. */
	void refund(long cost);

	/**
	 * Refunds a cost that was used at a known time, but nothing to a limit whose current
	 * window does not contain that time.
	 * @param since when the cost was used, in microseconds since the epoch
	 * @throws UnsupportedOperationException unless the algorithm
	 * {@linkplain Algorithm#supportsLeases() supports leases}
	 */
	default void cancel(long cost, long since) {
		throw new UnsupportedOperationException("This algorithm does not support leases.");
	}

	/** Returns what is left of a limit, from 0 to what it can ever allow. */
	long remaining(int limit);

	/**
	 * Returns whether the stored state was invalid, for example because the clock was set
	 * back, and has been corrected. It is then stored even if the request is denied.
	 */
	boolean corrected();

	/** Returns how long the state matters; 0 if it is the same as no state. */
	long ttl();

	/** Returns the state, for storing; the meter must not be changed after that. */
	MeterState state();

	/**
	 * Returns the requests in the log, newest first; none unless the algorithm keeps
	 * them. Requests of the same microsecond are returned all or none; if there are no
	 * others, as many as fit are returned.
	 * @param most the maximum number of requests to return, at least 1
	 * @param before only requests made before this time are returned
	 */
	default List<LogEntry> entries(int most, long before) {
		return List.of();
	}

	/** Returns the counts of kept windows, by limit and from newest to oldest. */
	default List<WindowCount> series() {
		return List.of();
	}

}
