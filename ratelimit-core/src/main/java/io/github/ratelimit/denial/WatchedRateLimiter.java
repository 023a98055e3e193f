package io.github.ratelimit.denial;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * Asks the store, and tells the memory what was used and given back.
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
		DenialMemory.Question question = this.memory.new Question(Part.of(request));
		boolean used = false;
		try {
			Decision decision = this.store.tryAcquire(request);
			used = decision.allowed() && decision.source() == Source.STORE;
			return decision;
		}
		finally {
			// A cost of which it is not known whether it was used gives nothing back.
			if (used) {
				question.changed();
			}
			else {
				question.unchanged();
			}
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return this.store.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		DenialMemory.Question question = this.memory.new Question(Part.of(request));
		boolean refunded = false;
		try {
			this.store.refund(request);
			refunded = true;
		}
		finally {
			if (refunded) {
				question.changed();
			}
			else {
				forget(request);
			}
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		try {
			this.store.charge(request);
		}
		finally {
			// What takes the place of others gives these back.
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
