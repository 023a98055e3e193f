package io.github.ratelimit;

import java.time.Instant;
import java.util.List;

/**
 * Decides whether requests are within their limits.
 * <p>
 * One call decides over every policy, identifier and limit of a request, all or nothing:
 * a denied request uses no quota of any limit. Charges {@linkplain Charge#shadow() in
 * shadow mode} are decided in the same call, each separately, and never deny. No method
 * waits for quota to arrive; a {@link io.github.ratelimit.waiting.WaitingRateLimiter}
 * does. Implementations must be safe for use by several threads.
 * <p>
 * After a {@link StoreException}, the change may or may not have been made.
 * <p>
 * <b>What is given back was added.</b> A refund or cancellation takes away at most what
 * it undoes has added. The caller's part is to refund only what was allowed, where it was
 * counted, once, and no more than its cost. A denied request must not be refunded, even
 * if its policy {@linkplain Policy#countDenied() counts denied requests}: a full limit
 * counts less of it than its cost, or nothing.
 * <p>
 * A Spring Boot application should inject the starter's {@code PolicyLimiter} instead,
 * which also handles failures of the store.
 */
public interface RateLimiter {

	/**
	 * Uses the cost of the request if every limit allows it, and nothing otherwise.
	 * @param request the request; it is allowed if all charges are in shadow mode
	 * @return the decision, with the status of every limit afterwards
	 * @throws StoreException if the store did not answer
	 */
	Decision tryAcquire(RateLimitRequest request);

	/**
	 * Returns the decision that {@link #tryAcquire} would make now, and changes nothing.
	 * @throws StoreException if the store did not answer
	 */
	Decision peek(RateLimitRequest request);

	/**
	 * Refunds the cost of a request that was allowed before. It never refunds more than
	 * was used, and never prolongs a count.
	 * <p>
	 * Refund soon: the most recent use in the current window is refunded. If the request
	 * was earlier, later requests may be admitted sooner than the bound of the algorithm
	 * allows. Algorithms that {@linkplain Algorithm#countsCalls() count calls} instead
	 * remove the call with the number of the request, whenever it began.
	 * @throws StoreException if the store did not answer
	 */
	void refund(RateLimitRequest request);

	/**
	 * Uses the cost of the request whether its limits allow it or not, for work that is
	 * already done and turned out to cost more than expected. Blocks are ignored.
	 * <p>
	 * A cost is reduced to the largest that a limit of the policy can ever allow. The
	 * cost beyond the quota is counted too, so that refunding it does not admit more
	 * requests: all of it by algorithms with windows, at most the largest quota of the
	 * policy by {@code sliding-log} and {@code sliding-window}, and by buckets at most
	 * their size. The cost beyond that is dropped or replaces the oldest entries, and
	 * refunding it admits as much more. Algorithms that
	 * {@linkplain Algorithm#countsCalls() count calls} renew the call with the number of
	 * the request, or enter it again if it was lost.
	 * @throws StoreException if the store did not answer
	 */
	void charge(RateLimitRequest request);

	/**
	 * Removes the counts of an identifier in a policy, and its denials and former
	 * penalties if the policy has a {@link Penalty}. It ends no block.
	 * @throws StoreException if the store did not answer
	 */
	void reset(Policy policy, Identifier identifier);

	/**
	 * Uses a cost as {@link #tryAcquire}, in advance: what turns out not to be needed can
	 * be {@linkplain #cancel cancelled}.
	 * @param policy the policy, with an algorithm that
	 * {@linkplain Algorithm#supportsLeases() supports leases}; it must not count denied
	 * requests
	 * @param cost the cost, at least 1
	 * @return the decision and its time. By default without a time, so that nothing can
	 * be cancelled
	 * @throws StoreException if the store did not answer; a store that answers later
	 * cancels the cost then
	 */
	default Reservation reserve(Policy policy, Identifier identifier, long cost) {
		return new Reservation(tryAcquire(policy, identifier, cost), null);
	}

	/**
	 * Refunds some of a cost that was {@linkplain #reserve reserved}. Nothing is refunded
	 * to a limit whose window has ended since, so this never lowers the count of a later
	 * window, however late it arrives. If the count was {@linkplain #reset reset} since,
	 * the cost must not be refunded.
	 * @param cost the cost to refund, at least 1; never more in total than was reserved
	 * @param reservedAt the {@linkplain Reservation#at() time} of the reservation
	 * @throws StoreException if the store did not answer
	 */
	default void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
	}

	/**
	 * Counts denials for the {@link Penalty} of their policies that something before this
	 * rate limiter decided, such as a cache. May block the identifiers; for charges in
	 * shadow mode this is only reported. By default, this does nothing.
	 * @param denials charges whose cost is the number of denials
	 * @throws StoreException if the store did not answer
	 */
	default void countDenials(List<Charge> denials) {
	}

	/**
	 * Refuses a policy that this rate limiter cannot enforce; by default, only those with
	 * a {@link Penalty}.
	 * @throws IllegalArgumentException if it is not supported
	 */
	default void requireSupported(Policy policy) {
		requireNoPenalty(policy);
	}

	/**
	 * Refuses a policy with a {@link Penalty}.
	 * @throws IllegalArgumentException if the policy has one
	 */
	static void requireNoPenalty(Policy policy) {
		if (policy.penalty() != null) {
			throw new IllegalArgumentException(
					"Invalid policy (%s): the store does not support penalties.".formatted(policy.name()));
		}
	}

	/** Uses a cost of 1, as {@link #tryAcquire(RateLimitRequest)}. */
	default Decision tryAcquire(Policy policy, Identifier identifier) {
		return tryAcquire(RateLimitRequest.of(policy, identifier));
	}

	/**
	 * Uses a cost of 0 or more, as {@link #tryAcquire(RateLimitRequest)}; 0 checks the
	 * limits without using them.
	 */
	default Decision tryAcquire(Policy policy, Identifier identifier, long cost) {
		return tryAcquire(RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost)));
	}

}
