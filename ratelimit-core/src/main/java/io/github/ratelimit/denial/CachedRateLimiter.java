package io.github.ratelimit.denial;

import java.util.List;
import java.util.function.Function;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

/**
 * Asks the store only if the memory does not know that it would deny the request.
 */
final class CachedRateLimiter extends WatchedRateLimiter {

	private final RateLimiter store;

	private final DenialMemory memory;

	CachedRateLimiter(RateLimiter store, DenialMemory memory) {
		super(store, memory);
		this.store = store;
		this.memory = memory;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return countsDenied(request) ? super.tryAcquire(request) : decide(request, this.store::tryAcquire, true);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return countsDenied(request) ? super.peek(request) : decide(request, this.store::peek, false);
	}

	private static boolean countsDenied(RateLimitRequest request) {
		return request.charges().stream().anyMatch((charge) -> charge.policy().countDenied());
	}

	private Decision decide(RateLimitRequest request, Function<RateLimitRequest, Decision> store, boolean uses) {
		List<Part> parts = Part.of(request);
		Decision known = this.memory.find(parts);
		if (known != null) {
			return known;
		}
		DenialMemory.Question question = this.memory.new Question(parts);
		Decision decision = null;
		try {
			decision = store.apply(request);
			return decision;
		}
		finally {
			if (decision == null || decision.source() != Source.STORE || (decision.allowed() && !uses)) {
				question.unchanged();
			}
			else if (decision.allowed()) {
				question.used();
			}
			else {
				question.denied(decision);
			}
		}
	}

}
