package io.github.ratelimit.test;

import java.time.Instant;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.Reservation;

/** Asks another store, for tests that change what some of its methods do. */
public class ForwardingStore implements RateLimiter {

	private final RateLimiter store;

	public ForwardingStore(RateLimiter store) {
		this.store = store;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return this.store.tryAcquire(request);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
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

	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		return this.store.reserve(policy, identifier, cost);
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		this.store.cancel(policy, identifier, cost, reservedAt);
	}

	@Override
	public void countDenials(List<Charge> denials) {
		this.store.countDenials(denials);
	}

}
