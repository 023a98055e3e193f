package io.github.ratelimit.test;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

public abstract class ClockContract extends RateLimiterContract {

	@EachAlgorithm
	void clockThatJumpedAheadLocksForAWindowAtMost(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		for (Duration jump : List.of(Duration.ofHours(1), Duration.ofSeconds(61), Duration.ofSeconds(30))) {
			this.clock.advance(jump);
			while (this.limiter.tryAcquire(policy, ALICE).allowed()) {
				this.clock.advance(Duration.ofNanos(1000));
			}
			this.clock.advance(jump.negated());
			Decision denied = this.limiter.tryAcquire(policy, ALICE);
			assertThat(denied.allowed()).as("after %s ahead and back", jump).isFalse();
			Duration wait = denied.retryAfter().orElseThrow();
			assertThat(List.of(Duration.ofMinutes(1), timeAfterAllQuotaIsUsed(policy)))
				.anySatisfy((longest) -> assertThat(wait).isLessThanOrEqualTo(longest));
			this.clock.advance(wait);
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			this.clock.advance(Duration.ofMinutes(2));
		}
	}

	@EachAlgorithm
	void clockThatIsSetBackMintsNoQuota(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.clock.set("2026-03-01T12:01:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		for (int step = 0; step < 10; step++) {
			this.clock.advance(Duration.ofMillis(-7));
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
		this.clock.set("2026-03-01T12:01:00.001Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@EachAlgorithm
	void firstAndLastTimeAreDecidedAsAnyOther(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		for (String time : List.of("1970-01-01T00:00:00Z", "2255-06-05T23:47:34.740991Z")) {
			this.clock.set(time);
			this.limiter.reset(policy, ALICE);
			assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).as(time).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter().orElseThrow()).as(time)
				.isBetween(Duration.ofNanos(1000), Duration.ofMinutes(2));
		}
	}

	/** Of zones whose day is uneven, whose midnight does not exist, or is there twice. */
	@ParameterizedTest
	@CsvSource({ "month, Europe/Berlin, 2027-01-31T23:00:00Z, 2027-02-28T23:00:00Z",
			"month, Europe/Berlin, 2027-02-28T23:00:00Z, 2027-03-31T22:00:00Z",
			"d, Europe/Paris, 2021-10-30T22:00:00Z, 2021-10-31T23:00:00Z",
			"d, Europe/Paris, 2021-03-27T23:00:00Z, 2021-03-28T22:00:00Z",
			"d, Australia/Lord_Howe, 2026-10-03T13:30:00Z, 2026-10-04T13:00:00Z",
			"month, Australia/Lord_Howe, 2026-09-30T13:30:00Z, 2026-10-31T13:00:00Z",
			"d, America/Sao_Paulo, 2018-11-04T03:00:00Z, 2018-11-05T02:00:00Z",
			"d, Asia/Beirut, 2026-03-28T22:00:00Z, 2026-03-29T21:00:00Z",
			"d, America/St_Johns, 2010-11-07T02:30:00Z, 2010-11-08T03:30:00Z",
			"d, Pacific/Apia, 2011-12-29T10:00:00Z, 2011-12-30T10:00:00Z",
			"week, Pacific/Apia, 2011-12-26T10:00:00Z, 2012-01-01T10:00:00Z",
			"month, Pacific/Apia, 2011-12-01T10:00:00Z, 2011-12-31T10:00:00Z",
			"year, Pacific/Apia, 2011-01-01T10:00:00Z, 2011-12-31T10:00:00Z",
			"month, UTC, 2028-02-01T00:00:00Z, 2028-03-01T00:00:00Z",
			"year, UTC, 2028-01-01T00:00:00Z, 2029-01-01T00:00:00Z",
			"week, UTC, 2026-12-28T00:00:00Z, 2027-01-04T00:00:00Z",
			"7d, UTC, 2026-12-24T00:00:00Z, 2026-12-31T00:00:00Z",
			"year, America/New_York, 2254-01-01T05:00:00Z, 2255-01-01T05:00:00Z" })
	void calendarWindowIsNewAtItsMidnight(String window, ZoneId zone, Instant start, Instant end) {
		Policy policy = policy(new FixedWindow(1, zone), "5/" + window);
		this.clock.set(start.minusNanos(1000).toString());
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		Duration wait = this.limiter.tryAcquire(policy, ALICE).retryAfter().orElseThrow();
		assertThat(wait).isEqualTo(Duration.between(start, end));
		for (Duration time : List.of(Duration.ofMinutes(45), wait.dividedBy(2))) {
			this.limiter.reset(policy, ALICE);
			this.clock.set(start.plus(time).toString());
			assertThat(this.limiter.tryAcquire(policy, ALICE, 5).statuses()).extracting(LimitStatus::resetAfter)
				.containsExactly(wait.minus(time));
		}
		assertAllowedAfter(wait.dividedBy(2), policy, 1);
	}

	@Test
	void weekBeginsOnTheFirstDayThatIsSet() {
		this.clock.set("2026-03-01T12:00:00Z");
		Policy policy = policy(new FixedWindow(1, ZoneOffset.UTC, DayOfWeek.WEDNESDAY), "5/week", "5/7d");
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).statuses()).extracting(LimitStatus::resetAfter)
			.containsExactly(Duration.ofHours(84), Duration.ofHours(60));
	}

	/** By less than days differ, so that the time is corrected without a trace. */
	@ParameterizedTest
	@CsvSource({ "month, 2027-04-30T22:00:00Z, 2027-05-31T22:00:00Z", "d, 2026-10-24T22:00:00Z, 2026-10-25T23:00:00Z" })
	void calendarWindowStaysAlignedWhenClockIsSetBackLittle(String window, Instant start, Instant end) {
		Policy policy = policy(new FixedWindow(1, ZoneId.of("Europe/Berlin")), "5/" + window);
		this.clock.set(start.plusMillis(400).toString());
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofSeconds(-1));
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter())
			.contains(Duration.between(this.clock.instant(), end));
		assertAllowedAfter(Duration.between(this.clock.instant(), end), policy, 5);
	}

	@Test
	void clockThatJumpedAheadLocksForAMonthAtMost() {
		Policy policy = policy(new FixedWindow(), "5/month");
		this.clock.set("2027-06-10T00:00:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.set("2027-02-27T00:00:00Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofDays(31));
		assertAllowedAfter(Duration.ofDays(31), policy, 5);
	}

	private Duration timeAfterAllQuotaIsUsed(Policy policy) {
		this.limiter.reset(policy, ADDRESS);
		while (this.limiter.tryAcquire(policy, ADDRESS).allowed()) {
			// until all is used
		}
		return this.limiter.peek(RateLimitRequest.of(policy, ADDRESS)).retryAfter().orElseThrow();
	}

}
