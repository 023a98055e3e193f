package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calendar windows whose ends come from an application with a clock that is wrong.
 */
class WrongClockIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private final ManualClock clock = new ManualClock("2027-02-10T00:00:00Z");

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
		.withClock(this.clock);

	/** Up to two windows off, it is the month; if more, one of 31 days since 1970. */
	@ParameterizedTest
	@CsvSource({ "0, P18DT23H", "45, P18DT23H", "-30, P18DT23H", "365, P4D", "-20000, P4D" })
	void monthEndsInTimeHoweverWrongTheClock(int daysAhead, Duration wait) {
		Policy policy = Policy.of("api" + daysAhead, new Shifted(Duration.ofDays(daysAhead)), Limit.parse("5/month"));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(wait);
		this.clock.advance(wait);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		// An application whose clock is right shares the count.
		Policy right = Policy.of(policy.name(), new FixedWindow(1, Shifted.BERLIN), Limit.parse("5/month"));
		assertThat(this.limiter.peek(RateLimitRequest.of(right, ALICE)).retryAfter().orElseThrow())
			.isLessThanOrEqualTo(Duration.ofDays(31));
	}

	/** A fixed window by a clock that is ahead. */
	private record Shifted(Duration ahead) implements Algorithm {

		static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

		private static final FixedWindow WINDOW = new FixedWindow(1, BERLIN);

		@Override
		public String name() {
			return WINDOW.name();
		}

		@Override
		public String script() {
			return WINDOW.script();
		}

		@Override
		public String code() {
			return WINDOW.code();
		}

		@Override
		public boolean followsCalendar(Limit limit) {
			return true;
		}

		@Override
		public Map<String, Number> constants(List<Limit> limits) {
			return WINDOW.constants(limits);
		}

		@Override
		public long[] arguments(Limit limit, long nowMicros) {
			return WINDOW.arguments(limit, Math.max(0, nowMicros + this.ahead.toSeconds() * 1_000_000));
		}

		@Override
		public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
			return WINDOW.meter(limits, state, nowMicros);
		}

	}

}
