package io.github.ratelimit;

/**
 * Decides whether requests are within their limits.
 * <p>
 * One call decides over every policy, identifier and limit of a request, all or nothing:
 * a denied request uses no quota of any limit. Charges {@linkplain Charge#shadow() in
 * shadow mode} are decided in the same call, each for itself, and never deny. No method
 * waits for quota to arrive. Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface RateLimiter {

	/**
	 * Uses the cost of the request if every limit allows it, and nothing otherwise.
	 * @param request the request; one whose charges are all in shadow mode is allowed
	 * @return allowed or denied, with the status of every limit afterwards
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	Decision tryAcquire(RateLimitRequest request);

	/**
	 * Returns the decision that {@link #tryAcquire} would come to now, and uses nothing.
	 * Nothing is written.
	 * @param request the request
	 * @return allowed or denied, with the present status of every limit
	 * @throws StoreException if the store did not answer
	 */
	Decision peek(RateLimitRequest request);

	/**
	 * Gives back the cost of a request that was allowed before. A refund never gives back
	 * more than was used, and never keeps a count for longer.
	 * <p>
	 * Refund soon: a refund gives back what was used last, in the present window. If the
	 * request was an earlier one, later requests may be admitted sooner than the bound of
	 * the algorithm says.
	 * @param request the request, with the costs to give back
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been given back
	 */
	void refund(RateLimitRequest request);

	/**
	 * Uses the cost of the request whether its limits allow it or not: for what has been
	 * done already and was found to cost more than was asked for. Blocks do not matter.
	 * <p>
	 * A cost is reduced to the largest that a limit of the policy could ever allow. What
	 * is charged beyond the quota is remembered, so that a refund of it admits nothing
	 * that was not admitted before: all of it by algorithms with windows, as much again
	 * as the largest quota of the policy by {@code sliding-log} and
	 * {@code sliding-window}, and as much again as their size by buckets. What is charged
	 * beyond that is forgotten, or replaces the oldest, and a refund of it admits as much
	 * more.
	 * @param request the request, with the costs to use
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	void charge(RateLimitRequest request);

	/**
	 * Forgets all that an identifier has used of a policy.
	 * @param policy the policy
	 * @param identifier the identifier
	 * @throws StoreException if the store did not answer
	 */
	void reset(Policy policy, Identifier identifier);

	/**
	 * Refuses a policy that this rate limiter cannot enforce, before the first request.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm or its options are not supported
	 */
	default void requireSupported(Policy policy) {
	}

	/**
	 * Uses a cost of 1 if every limit of the policy allows it, and nothing otherwise.
	 * @param policy the policy
	 * @param identifier who is counted
	 * @return allowed or denied, with the status of every limit afterwards
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	default Decision tryAcquire(Policy policy, Identifier identifier) {
		return tryAcquire(RateLimitRequest.of(policy, identifier));
	}

	/**
	 * Uses the cost if every limit of the policy allows it, and nothing otherwise.
	 * @param policy the policy
	 * @param identifier who is counted
	 * @param cost what is used of each quota, 0 or more; 0 looks without touching
	 * @return allowed or denied, with the status of every limit afterwards
	 * @throws IllegalArgumentException if the cost is negative
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	default Decision tryAcquire(Policy policy, Identifier identifier, long cost) {
		return tryAcquire(RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost)));
	}

}
