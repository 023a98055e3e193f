package io.github.ratelimit.algorithm;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.ZoneId;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calendar windows whose ends come from an application with a clock that is wrong.
 */
class WrongClockIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final FixedWindow MONTHS = new FixedWindow(1, ZoneId.of("Europe/Berlin"));

	private final ManualClock clock = new ManualClock("2027-02-10T00:00:00Z");

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
		.withClock(this.clock);

	/** Up to two windows off, it is the month; if more, one of 31 days since 1970. */
	@ParameterizedTest
	@CsvSource({ "0, P18DT23H", "45, P18DT23H", "-30, P18DT23H", "365, P4D", "-20000, P4D" })
	void monthEndsInTimeHoweverWrongTheClock(int daysAhead, Duration wait) {
		Policy policy = Policy.of("api" + daysAhead, ahead(Duration.ofDays(daysAhead)), Limit.parse("5/month"));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(wait);
		this.clock.advance(wait);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		// An application whose clock is right shares the count.
		Policy right = Policy.of(policy.name(), MONTHS, Limit.parse("5/month"));
		assertThat(this.limiter.peek(RateLimitRequest.of(right, ALICE)).retryAfter().orElseThrow())
			.isLessThanOrEqualTo(Duration.ofDays(31));
	}

	/** Months by a clock that is ahead. */
	private static Algorithm ahead(Duration time) {
		return (Algorithm) Proxy.newProxyInstance(BesideScripts.class.getClassLoader(),
				new Class<?>[] { BesideScripts.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("arguments")) {
						arguments[1] = Math.max(0, (long) arguments[1] + time.toSeconds() * 1_000_000);
					}
					return method.invoke(MONTHS, arguments);
				});
	}

	/** Not public, so that the class of the proxy is in this package. */
	private interface BesideScripts extends Algorithm {

	}

}
