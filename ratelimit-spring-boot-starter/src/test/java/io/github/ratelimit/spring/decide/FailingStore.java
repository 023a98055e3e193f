package io.github.ratelimit.spring.decide;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;

/** A store that is gone, or busy, unless another one answers instead. */
class FailingStore implements RateLimiter {

	boolean busy;

	@Nullable RateLimiter instead;

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return store().tryAcquire(request);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return store().peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		store().refund(request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		store().charge(request);
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		store().reset(policy, identifier);
	}

	private RateLimiter store() {
		if (this.instead != null) {
			return this.instead;
		}
		IllegalStateException cause = new IllegalStateException();
		throw this.busy ? new StoreBusyException("busy", cause, "") : new StoreException("gone", cause);
	}

}
