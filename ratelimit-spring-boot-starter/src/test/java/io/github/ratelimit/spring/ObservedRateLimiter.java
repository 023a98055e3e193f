package io.github.ratelimit.spring;

import java.util.function.Consumer;

import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * A rate limiter that tells of the decisions it is asked for, and of what is settled
 * later.
 */
public final class ObservedRateLimiter extends DelegatingRateLimiter {

	private final Consumer<RateLimitRequest> decided;

	private final Consumer<RateLimitRequest> settled;

	/**
	 * Creates a rate limiter.
	 * @param decided told of each decision
	 * @param settled told of each refund, and of each charge beyond a decision
	 */
	public ObservedRateLimiter(RateLimiter limiter, Consumer<RateLimitRequest> decided,
			Consumer<RateLimitRequest> settled) {
		super(limiter);
		this.decided = decided;
		this.settled = settled;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		this.decided.accept(request);
		return super.tryAcquire(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.settled.accept(request);
		super.refund(request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.settled.accept(request);
		super.charge(request);
	}

}
