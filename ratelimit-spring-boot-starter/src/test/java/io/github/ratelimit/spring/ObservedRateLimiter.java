package io.github.ratelimit.spring;

import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * A rate limiter that tells of the decisions it is asked for, and of what is settled
 * later.
 *
 * @param limiter decides and settles
 * @param decided told of each decision
 * @param settled told of each refund, and of each charge beyond a decision
 */
public record ObservedRateLimiter(RateLimiter limiter, Consumer<RateLimitRequest> decided,
		Consumer<RateLimitRequest> settled) implements RateLimiter {

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		this.decided.accept(request);
		return this.limiter.tryAcquire(request);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return this.limiter.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.settled.accept(request);
		this.limiter.refund(request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.settled.accept(request);
		this.limiter.charge(request);
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
