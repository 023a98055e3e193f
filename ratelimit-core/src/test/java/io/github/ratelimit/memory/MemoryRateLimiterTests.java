package io.github.ratelimit.memory;

import java.time.InstantSource;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.BlockListContract;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.RequestHistoryContract;
import org.junit.jupiter.api.Nested;

class MemoryRateLimiterTests extends RateLimiterContract {

	@Override
	protected RateLimiter newRateLimiter(InstantSource clock) {
		return new MemoryRateLimiter(clock);
	}

	@Nested
	class Blocks extends BlockListContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return new MemoryRateLimiter(clock);
		}

	}

	@Nested
	class History extends RequestHistoryContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return new MemoryRateLimiter(clock);
		}

	}

}
