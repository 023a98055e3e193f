package io.github.ratelimit.denial;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/** Counts decisions, and lets something happen between a decision and its answer. */
class CountingStore extends DelegatingRateLimiter {

	Runnable meanwhile = () -> {
	};

	int calls;

	int peeks;

	final List<List<Charge>> denials = new ArrayList<>();

	CountingStore(RateLimiter store) {
		super(store);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		this.calls++;
		Decision decision = super.tryAcquire(request);
		Runnable once = this.meanwhile;
		this.meanwhile = () -> {
		};
		once.run();
		return decision;
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		this.peeks++;
		return super.peek(request);
	}

	@Override
	public void countDenials(List<Charge> denials) {
		this.denials.add(List.copyOf(denials));
		super.countDenials(denials);
	}

}
