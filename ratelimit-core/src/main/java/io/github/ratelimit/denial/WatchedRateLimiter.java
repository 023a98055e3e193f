package io.github.ratelimit.denial;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * Asks the store, and forgets what is known of accounts whenever something may have been
 * used or given back.
 */
class WatchedRateLimiter implements RateLimiter {

	private final RateLimiter store;

	private final DenialMemory memory;

	WatchedRateLimiter(RateLimiter store, DenialMemory memory) {
		this.store = store;
		this.memory = memory;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		boolean denied = false;
		try {
			Decision decision = this.store.tryAcquire(request);
			denied = !decision.allowed();
			return decision;
		}
		finally {
			if (!denied) {
				forget(request);
			}
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return this.store.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		try {
			this.store.refund(request);
		}
		finally {
			forget(request);
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		try {
			this.store.charge(request);
		}
		finally {
			forget(request);
		}
	}

	private void forget(RateLimitRequest request) {
		Part.of(request).forEach((part) -> this.memory.forget(part.account()));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		try {
			this.store.reset(policy, identifier);
		}
		finally {
			this.memory.forget(new Account(policy.name(), identifier));
		}
	}

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

}
