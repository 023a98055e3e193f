package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * Asks the store unless the memory knows that it would deny the request, and forgets the
 * denials of a key whenever something may have been used or given back. What is in shadow
 * mode denies nothing, so that nothing is remembered of it.
 *
 * @param memory the memory at the time, which is another one when all is forgotten
 * @param answers whether requests are answered from memory; otherwise denials are only
 * forgotten
 * @param maxAge for how long the denials of a policy are remembered at most
 */
record CachedRateLimiter(RateLimiter store, Supplier<DenialMemory> memory, boolean answers,
		Function<Policy, Duration> maxAge) implements RateLimiter {

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		List<Charge> enforced = request.enforced();
		Key[] keys = Key.of(enforced);
		DenialMemory.Call call = null;
		if (mayAnswer(enforced)) {
			DenialMemory present = this.memory.get();
			Decision known = present.find(enforced, keys, this.maxAge);
			if (known != null) {
				return known;
			}
			call = present.new Call(enforced, keys);
		}
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
				forget(Key.of(request.shadows()));
			}
		}
	}

	/**
	 * What the store answers is not remembered: a peek tells how a bucket with a burst
	 * would stand at the quota that it asks about, and leaves the bucket at its own.
	 */
	@Override
	public Decision peek(RateLimitRequest request) {
		List<Charge> enforced = request.enforced();
		Decision known = mayAnswer(enforced) ? this.memory.get().find(enforced, Key.of(enforced), this.maxAge) : null;
		return (known != null) ? known : this.store.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		try {
			this.store.refund(request);
		}
		finally {
			forget(Key.of(request.charges()));
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		try {
			this.store.charge(request);
		}
		finally {
			forget(Key.of(request.charges()));
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		try {
			this.store.reset(policy, identifier);
		}
		finally {
			forget(new Key(policy.name(), identifier));
		}
	}

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	private void forget(Key... keys) {
		DenialMemory present = this.memory.get();
		for (Key key : keys) {
			present.forget(key);
		}
	}

	private boolean mayAnswer(List<Charge> enforced) {
		for (Charge charge : enforced) {
			if (charge.policy().countDenied()) {
				return false;
			}
		}
		return this.answers;
	}

}
