package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

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
 * Asks the store unless the cache knows that the store would deny the request. Drops
 * denials whenever a count may have changed. Charges in shadow mode deny nothing and are
 * not cached.
 */
final class CachedRateLimiter extends DelegatingRateLimiter {

	private final DenialMemory memory;

	private final boolean answers;

	private final Function<Policy, Duration> maxAge;

	private final DenialCounts counts;

	/**
	 * @param answers whether to answer requests from memory; otherwise denials are only
	 * dropped
	 * @param maxAge returns how long denials of a policy are kept at most
	 */
	CachedRateLimiter(RateLimiter store, DenialMemory memory, boolean answers, Function<Policy, Duration> maxAge,
			DenialCounts counts) {
		super(store);
		this.memory = memory;
		this.answers = answers;
		this.maxAge = maxAge;
		this.counts = counts;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		List<Charge> enforced = request.enforced();
		DenialMemory.Call call = null;
		if (mayAnswer(enforced)) {
			Decision known = this.memory.find(enforced, this.maxAge);
			if (known != null) {
				this.counts.count(known);
				return known;
			}
			call = this.memory.new Call(enforced);
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
				this.memory.forget(request.charges());
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
		Decision known = mayAnswer(enforced) ? this.memory.find(enforced, this.maxAge) : null;
		return (known != null) ? known : super.peek(request);
	}

	@Override
	public void refund(RateLimitRequest request) {
		change(request.charges(), () -> super.refund(request));
	}

	@Override
	public void charge(RateLimitRequest request) {
		change(request.charges(), () -> super.charge(request));
	}

	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		try {
			return super.reserve(policy, identifier, cost);
		}
		finally {
			this.memory.forget(policy, identifier);
		}
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		change(List.of(Charge.of(policy, identifier)), () -> super.cancel(policy, identifier, cost, reservedAt));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		change(List.of(Charge.of(policy, identifier)), () -> super.reset(policy, identifier));
	}

	private void change(List<Charge> charges, Runnable change) {
		try {
			change.run();
		}
		finally {
			this.memory.forget(charges);
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
