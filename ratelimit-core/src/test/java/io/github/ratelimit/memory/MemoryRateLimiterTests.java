package io.github.ratelimit.memory;

import java.time.InstantSource;

import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.BlockListContract;
import io.github.ratelimit.test.BucketContract;
import io.github.ratelimit.test.ChangeContract;
import io.github.ratelimit.test.ChargeContract;
import io.github.ratelimit.test.ClockContract;
import io.github.ratelimit.test.ConcurrentCallsContract;
import io.github.ratelimit.test.CountDeniedContract;
import io.github.ratelimit.test.DecisionContract;
import io.github.ratelimit.test.LogContract;
import io.github.ratelimit.test.PenaltyContract;
import io.github.ratelimit.test.RefundContract;
import io.github.ratelimit.test.RequestHistoryContract;
import io.github.ratelimit.test.ShadowContract;
import io.github.ratelimit.test.WaitContract;
import org.junit.jupiter.api.Nested;

class MemoryRateLimiterTests {

	private static RateLimiter create(InstantSource clock) {
		return new MemoryRateLimiter(clock);
	}

	@Nested
	class Decisions extends DecisionContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Waits extends WaitContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class CountedDenials extends CountDeniedContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Calls extends ConcurrentCallsContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Shadows extends ShadowContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Charges extends ChargeContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Refunds extends RefundContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Changes extends ChangeContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Logs extends LogContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Buckets extends BucketContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Clocks extends ClockContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Blocks extends BlockListContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Penalties extends PenaltyContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock, PenaltyListener listener) {
			return new MemoryRateLimiter(clock, Integer.MAX_VALUE, listener);
		}

	}

	@Nested
	class History extends RequestHistoryContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

}
