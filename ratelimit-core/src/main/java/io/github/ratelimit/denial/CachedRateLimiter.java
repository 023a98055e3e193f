package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.Reservation;

/**
 * Asks the store unless the cache knows that the store would deny the request. Drops the
 * denials of a key whenever its count may have changed. Charges in shadow mode deny
 * nothing and are not cached.
 */
final class CachedRateLimiter extends DelegatingRateLimiter {

	private final Supplier<DenialMemory> memory;

	private final boolean answers;

	private final Function<Policy, Duration> maxAge;

	private final UntoldDenials untold;

	/**
	 * Creates a rate limiter.
	 * @param memory supplies the current memory, which is replaced when all denials are
	 * dropped
	 * @param answers whether to answer requests from memory; otherwise denials are only
	 * dropped
	 * @param maxAge returns how long denials of a policy are kept at most
	 * @param untold counts denials from memory for penalties
	 */
	CachedRateLimiter(RateLimiter store, Supplier<DenialMemory> memory, boolean answers,
			Function<Policy, Duration> maxAge, UntoldDenials untold) {
		super(store);
		this.memory = memory;
		this.answers = answers;
		this.maxAge = maxAge;
		this.untold = untold;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		List<Charge> enforced = request.enforced();
		Key[] keys = Key.of(enforced);
		DenialMemory.Call call = null;
		if (mayAnswer(enforced)) {
			DenialMemory present = this.memory.get();
			Decision known = present.find(enforced, keys, this.maxAge);
			if (known != null) {
				this.untold.count(enforced, known);
				return known;
			}
			call = present.new Call(enforced, keys);
		}
		boolean denied = false;
		try {
			Decision decision = super.tryAcquire(request);
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
	 * Does not cache the answer of the store: a peek calculates a bucket with a burst
	 * with the quota of the request, but does not change the stored quota of the bucket.
	 */
	@Override
	public Decision peek(RateLimitRequest request) {
		List<Charge> enforced = request.enforced();
		Decision known = mayAnswer(enforced) ? this.memory.get().find(enforced, Key.of(enforced), this.maxAge) : null;
		return (known != null) ? known : super.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		try {
			super.refund(request);
		}
		finally {
			forget(Key.of(request.charges()));
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		try {
			super.charge(request);
		}
		finally {
			forget(Key.of(request.charges()));
		}
	}

	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		try {
			return super.reserve(policy, identifier, cost);
		}
		finally {
			forget(new Key(policy.name(), identifier));
		}
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		try {
			super.cancel(policy, identifier, cost, reservedAt);
		}
		finally {
			forget(new Key(policy.name(), identifier));
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		try {
			super.reset(policy, identifier);
		}
		finally {
			forget(new Key(policy.name(), identifier));
		}
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
