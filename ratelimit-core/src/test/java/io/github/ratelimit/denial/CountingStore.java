package io.github.ratelimit.denial;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/** Counts decisions, and lets something happen between a decision and its answer. */
final class CountingStore implements RateLimiter {

	private final RateLimiter store;

	Runnable meanwhile = () -> {
	};

	int calls;

	int peeks;

	CountingStore(RateLimiter store) {
		this.store = store;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		this.calls++;
		Decision decision = this.store.tryAcquire(request);
		Runnable once = this.meanwhile;
		this.meanwhile = () -> {
		};
		once.run();
		return decision;
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		this.peeks++;
		return this.store.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.store.refund(request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.store.charge(request);
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.store.reset(policy, identifier);
	}

}
