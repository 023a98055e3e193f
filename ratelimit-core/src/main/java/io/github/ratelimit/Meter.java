package io.github.ratelimit;

/**
 * The state of one policy and identifier at one moment, in plain Java: what an algorithm
 * knows, and how it changes. The in-memory store decides with it, and tests hold the
 * script part of the algorithm against it, statement by statement.
 * <p>
 * Limits are named by their index in the policy. All times are in microseconds. Not safe
 * for use by several threads.
 *
 * @since 0.1
 */
public interface Meter {

	/**
	 * Returns the shortest time after which the limit would allow the cost, if nothing
	 * else happened.
	 * @param limit the index of the limit
	 * @param cost at least 1 and at most the limit's quota
	 * @return microseconds; 0 if the limit allows the cost now
	 */
	long retryAfter(int limit, long cost);

	/**
	 * Uses the cost of every limit.
	 * @param cost at least 1, and allowed by every limit
	 */
	void add(long cost);

	/**
	 * Gives the cost back to every limit, never more than was used.
	 * @param cost at least 1
	 */
	void refund(long cost);

	/**
	 * Returns what is left of the limit.
	 * @param limit the index of the limit
	 * @return from 0 to the limit's quota
	 */
	long remaining(int limit);

	/**
	 * Returns the time until more quota arrives.
	 * @param limit the index of the limit
	 * @return microseconds; 0 if nothing is used
	 */
	long resetAfter(int limit);

	/**
	 * Returns whether the state was written by a clock that was ahead of the present one,
	 * and has been brought back to it. Such a state is stored even if the request is
	 * denied, because it would otherwise stay ahead.
	 * @return whether the clock was set back
	 */
	boolean rewound();

	/**
	 * Returns for how long the state matters.
	 * @return microseconds; 0 if it is the same as no state
	 */
	long ttl();

	/**
	 * Returns the state as numbers, for storing.
	 * @return a new array
	 */
	long[] state();

}
