package io.github.ratelimit.spring.policy;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;

/** A store that is gone, or busy. */
class FailingStore implements RateLimiter {

	boolean busy;

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		throw failure();
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		throw failure();
	}

	@Override
	public void refund(RateLimitRequest request) {
		throw failure();
	}

	@Override
	public void charge(RateLimitRequest request) {
		throw failure();
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		throw failure();
	}

	private StoreException failure() {
		IllegalStateException cause = new IllegalStateException();
		return this.busy ? new StoreBusyException("busy", cause) : new StoreException("gone", cause);
	}

}
