package io.github.ratelimit.memory;

import java.time.InstantSource;

import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.StoreContracts;

class MemoryRateLimiterTests extends StoreContracts {

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return new MemoryRateLimiter(clock, Integer.MAX_VALUE, listener);
	}

}
