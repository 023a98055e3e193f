package io.github.ratelimit.denial;

import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * Asks the store only if the memory does not know that it would deny the request.
 */
final class CachedRateLimiter extends WatchedRateLimiter {

	private final DenialMemory memory;

	CachedRateLimiter(RateLimiter store, DenialMemory memory) {
		super(store, memory);
		this.memory = memory;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		if (countsDenied(request)) {
			return super.tryAcquire(request);
		}
		List<Part> parts = Part.of(request);
		Decision known = this.memory.find(parts);
		return (known != null) ? known : decide(request, parts);
	}

	/**
	 * What the store answers is not remembered: a peek tells how a bucket with a burst
	 * would stand at the quota that it asks about, and leaves the bucket at its own.
	 */
	@Override
	public Decision peek(RateLimitRequest request) {
		Decision known = countsDenied(request) ? null : this.memory.find(Part.of(request));
		return (known != null) ? known : super.peek(request);
	}

	private static boolean countsDenied(RateLimitRequest request) {
		return request.charges().stream().anyMatch((charge) -> charge.policy().countDenied());
	}

	private Decision decide(RateLimitRequest request, List<Part> parts) {
		DenialMemory.Question question = this.memory.new Question(parts);
		Decision decision = super.tryAcquire(request);
		if (!decision.allowed() && decision.source() == Source.STORE) {
			question.denied(decision);
		}
		return decision;
	}

}
