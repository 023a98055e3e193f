package io.github.ratelimit;

import java.time.Instant;
import java.util.List;

/**
 * Delegates every method to another rate limiter, for those that change some of them.
 * Safe for use by several threads if the other rate limiter is.
 */
public abstract class DelegatingRateLimiter implements RateLimiter {

	private final RateLimiter delegate;

	protected DelegatingRateLimiter(RateLimiter delegate) {
		this.delegate = delegate;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return this.delegate.tryAcquire(request);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return this.delegate.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.delegate.refund(request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.delegate.charge(request);
	}

	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		return this.delegate.reserve(policy, identifier, cost);
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		this.delegate.cancel(policy, identifier, cost, reservedAt);
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.delegate.reset(policy, identifier);
	}

	@Override
	public void countDenials(List<Charge> denials) {
		this.delegate.countDenials(denials);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.delegate.requireSupported(policy);
	}

}
