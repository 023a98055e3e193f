package io.github.ratelimit.spring.actuate;

import java.time.Instant;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.Reservation;

/**
 * Delegates to another rate limiter.
 */
abstract class DelegatingRateLimiter implements RateLimiter {

	private final RateLimiter limiter;

	DelegatingRateLimiter(RateLimiter limiter) {
		this.limiter = limiter;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return this.limiter.tryAcquire(request);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return this.limiter.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.limiter.refund(request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.limiter.charge(request);
	}

	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		return this.limiter.reserve(policy, identifier, cost);
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		this.limiter.cancel(policy, identifier, cost, reservedAt);
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.limiter.reset(policy, identifier);
	}

	@Override
	public void countDenials(List<Charge> denials) {
		this.limiter.countDenials(denials);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.limiter.requireSupported(policy);
	}

}
