package io.github.ratelimit;

/**
 * Decides whether requests are within their limits.
 * <p>
 * One call decides over every policy, identifier and limit of a request, all or nothing:
 * a denied request uses no quota of any limit. Charges {@linkplain Charge#shadow() in
 * shadow mode} are decided in the same call, each separately, and never deny. No method
 * waits for quota to arrive. Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface RateLimiter {

	/**
	 * Uses the cost of the request if every limit allows it, and nothing otherwise.
	 * @param request the request; it is allowed if all charges are in shadow mode
	 * @return the decision, with the status of every limit afterwards
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	Decision tryAcquire(RateLimitRequest request);

	/**
	 * Returns the decision that {@link #tryAcquire} would make now. Nothing is used or
	 * written.
	 * @param request the request
	 * @return the decision, with the current status of every limit
	 * @throws StoreException if the store did not answer
	 */
	Decision peek(RateLimitRequest request);

	/**
	 * Refunds the cost of a request that was allowed before. It never refunds more than
	 * was used, and never prolongs a count.
	 * <p>
	 * Refund soon: the most recent use in the current window is refunded. If the request
	 * was earlier, later requests may be admitted sooner than the bound of the algorithm
	 * allows.
	 * @param request the request, with the costs to refund
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been refunded
	 */
	void refund(RateLimitRequest request);

	/**
	 * Uses the cost of the request whether its limits allow it or not. Use it for work
	 * that is already done and turned out to cost more than expected. Blocks are ignored.
	 * <p>
	 * A cost is reduced to the largest that a limit of the policy can ever allow. The
	 * cost beyond the quota is counted too, so that refunding it does not admit more
	 * requests. Algorithms with windows count all of it; {@code sliding-log} and
	 * {@code sliding-window} count at most the largest quota of the policy in addition,
	 * and buckets at most their size. The cost beyond that is dropped or replaces the
	 * oldest entries, and refunding it admits as much more.
	 * @param request the request, with the costs to use
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	void charge(RateLimitRequest request);

	/**
	 * Removes the counts of an identifier in a policy.
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
	 * @param identifier the identifier to count
	 * @return the decision, with the status of every limit afterwards
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	default Decision tryAcquire(Policy policy, Identifier identifier) {
		return tryAcquire(RateLimitRequest.of(policy, identifier));
	}

	/**
	 * Uses the cost if every limit of the policy allows it, and nothing otherwise.
	 * @param policy the policy
	 * @param identifier the identifier to count
	 * @param cost the cost, 0 or more; 0 checks the limits without using them
	 * @return the decision, with the status of every limit afterwards
	 * @throws IllegalArgumentException if the cost is negative
	 * @throws StoreException if the store did not answer; the cost may or may not have
	 * been used
	 */
	default Decision tryAcquire(Policy policy, Identifier identifier, long cost) {
		return tryAcquire(RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost)));
	}

}
