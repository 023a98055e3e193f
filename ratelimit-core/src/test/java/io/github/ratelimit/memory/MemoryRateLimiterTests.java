package io.github.ratelimit.memory;

import java.time.InstantSource;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.RateLimiterContract;

class MemoryRateLimiterTests extends RateLimiterContract {

	@Override
	protected RateLimiter newRateLimiter(InstantSource clock) {
		return new MemoryRateLimiter(clock);
	}

}
