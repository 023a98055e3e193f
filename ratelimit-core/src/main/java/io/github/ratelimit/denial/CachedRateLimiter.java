package io.github.ratelimit.denial;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store only if the memory does not know that it would deny the request, and
 * forgets what is known of a request whenever something may have been used or given back.
 */
final class CachedRateLimiter implements RateLimiter {

	private final RateLimiter store;

	private final DenialMemory memory;

	private final boolean answers;

	/**
	 * Creates a rate limiter.
	 * @param answers whether requests are answered from memory; otherwise, it only
	 * forgets
	 */
	CachedRateLimiter(RateLimiter store, DenialMemory memory, boolean answers) {
		this.store = store;
		this.memory = memory;
		this.answers = answers;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		Key[] keys = Key.of(request);
		if (!this.answers || countsDenied(request)) {
			return decide(request, keys, null);
		}
		Decision known = this.memory.find(request, keys);
		return (known != null) ? known : decide(request, keys, this.memory.new Call(request, keys));
	}

	private Decision decide(RateLimitRequest request, Key[] keys, DenialMemory.@Nullable Call call) {
		boolean denied = false;
		try {
			Decision decision = this.store.tryAcquire(request);
			denied = !decision.allowed();
			if (denied && call != null && decision.source() == Source.STORE) {
				call.denied(decision);
			}
			return decision;
		}
		finally {
			if (!denied) {
				forget(keys);
			}
		}
	}

	/**
	 * What the store answers is not remembered: a peek tells how a bucket with a burst
	 * would stand at the quota that it asks about, and leaves the bucket at its own.
	 */
	@Override
	public Decision peek(RateLimitRequest request) {
		Decision known = (this.answers && !countsDenied(request)) ? this.memory.find(request, Key.of(request)) : null;
		return (known != null) ? known : this.store.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		try {
			this.store.refund(request);
		}
		finally {
			forget(Key.of(request));
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		try {
			this.store.charge(request);
		}
		finally {
			forget(Key.of(request));
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		try {
			this.store.reset(policy, identifier);
		}
		finally {
			this.memory.forget(new Key(policy.name(), identifier));
		}
	}

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	private void forget(Key[] keys) {
		for (Key key : keys) {
			this.memory.forget(key);
		}
	}

	private static boolean countsDenied(RateLimitRequest request) {
		for (Charge charge : request.charges()) {
			if (charge.policy().countDenied()) {
				return true;
			}
		}
		return false;
	}

}
