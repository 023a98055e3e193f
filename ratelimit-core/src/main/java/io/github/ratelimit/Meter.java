package io.github.ratelimit;

import java.time.Instant;
import java.util.List;

/**
 * The state of one policy and identifier at one time, and how it changes, in plain Java.
 * The store in memory decides with it, and tests compare the script of the algorithm with
 * it.
 * <p>
 * Limits are given by their index in the policy. All times are in microseconds. Not safe
 * for use by several threads.
 *
 * @since 0.1
 */
public interface Meter {

	/**
	 * Returns a time in microseconds. Every store uses this method to read a clock, so
	 * that all times are in a range that it can calculate with.
	 * @param time the time, from 1970 until 2<sup>53</sup> microseconds later, in the
	 * year 2255: the times that Redis scripts can represent exactly
	 * @return microseconds since the epoch
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
	 * Returns this meter for a request that is an identified call, for algorithms that
	 * {@linkplain Algorithm#countsCalls() count calls}: {@link #add} enters the call,
	 * {@link #charge} renews it, and {@link #refund} removes it.
	 * @param call {@link RateLimitRequest#call()}
	 * @return this meter
	 */
	default Meter ofCall(long call) {
		return this;
	}

	/**
	 * Returns the shortest time after which the limit would allow the cost, if nothing
	 * else happens.
	 * @param limit the index of the limit
	 * @param cost at least 1, and at most what the limit can ever allow
	 * @return microseconds; 0 if the limit allows the cost now
	 */
	long retryAfter(int limit, long cost);

	/**
	 * Adds the cost to every limit, even to one that does not allow it, because a policy
	 * may count denied requests.
	 * @param cost at least 1, and at most the largest cost that any limit can ever allow;
	 * a limit that can never allow so much is used up
	 * @param metadata text to keep with the request, which does not affect decisions; may
	 * be empty
	 */
	void add(long cost, String metadata);

	/**
	 * Adds the cost to every limit, whether it allows it or not. What exceeds the quota
	 * is also counted if the algorithm can, because it may be refunded.
	 * @param cost as for {@link #add}
	 * @param metadata as for {@link #add}
	 */
	default void charge(long cost, String metadata) {
		add(cost, metadata);
	}

	/**
	 * Refunds the cost to every limit, but never more than was used.
	 * @param cost at least 1
	 */
	void refund(long cost);

	/**
	 * Refunds a cost that was used at a known time. Nothing is refunded to a limit whose
	 * current window does not contain that time, so a late call cannot lower the count of
	 * a later window.
	 * @param cost at least 1
	 * @param since when the cost was used, in microseconds since the epoch
	 * @throws UnsupportedOperationException unless the algorithm
	 * {@linkplain Algorithm#supportsLeases() supports leases}
	 */
	default void cancel(long cost, long since) {
		throw new UnsupportedOperationException("This algorithm does not support leases.");
	}

	/**
	 * Returns what is left of the limit.
	 * @param limit the index of the limit
	 * @return from 0 to what the limit can ever allow
	 */
	long remaining(int limit);

	/**
	 * Returns whether the stored state was invalid at the current time and with the
	 * current options, and has been corrected, for example because the clock was set
	 * back. Such a state is stored even if the request is denied, because otherwise it
	 * would remain invalid.
	 * @return whether the state was corrected
	 */
	boolean corrected();

	/**
	 * Returns how long the state matters.
	 * @return microseconds; 0 if it is the same as no state
	 */
	long ttl();

	/**
	 * Returns the state, for storing; the meter must not be changed after that.
	 * @return the state
	 */
	MeterState state();

	/**
	 * Returns the requests in the log, newest first. Requests of the same microsecond are
	 * returned all or none; if there are no others, as many as fit are returned.
	 * @param most the maximum number of requests to return, at least 1
	 * @param before only requests made before this time are returned, in microseconds
	 * since the epoch
	 * @return the requests; empty unless the algorithm keeps them
	 */
	default List<LogEntry> entries(int most, long before) {
		return List.of();
	}

	/**
	 * Returns the counts of the windows that are kept, by limit and from newest to
	 * oldest.
	 * @return the counts; empty unless the algorithm keeps them
	 */
	default List<WindowCount> series() {
		return List.of();
	}

}
