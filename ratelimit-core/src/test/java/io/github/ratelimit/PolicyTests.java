package io.github.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.Test;

import static java.time.DayOfWeek.SUNDAY;
import static java.time.ZoneOffset.UTC;
import static org.assertj.core.api.Assertions.assertThat;

class PolicyTests {

	private static final Limit PER_SECOND = Limit.parse("10/s");

	private static final Limit PER_MINUTE = Limit.parse("120/m");

	private static final Limit PER_HOUR = Limit.parse("240/h");

	@Test
	void limitsAreKeptByAscendingWindow() {
		Policy policy = Policy.of("api", new FixedWindow(), PER_HOUR, PER_SECOND, PER_MINUTE);
		assertThat(policy.limits()).containsExactly(PER_SECOND, PER_MINUTE, PER_HOUR);
		assertThat(policy).isEqualTo(Policy.of("api", new FixedWindow(), PER_MINUTE, PER_HOUR, PER_SECOND))
			.hasSameHashCodeAs(Policy.of("api", new FixedWindow(), PER_MINUTE, PER_HOUR, PER_SECOND));
	}

	@Test
	void limitsCannotBeChangedFromOutside() {
		List<Limit> limits = new ArrayList<>(List.of(PER_SECOND));
		Policy policy = new Policy("api", new FixedWindow(), limits);
		limits.add(PER_HOUR);
		assertThat(policy.limits()).containsExactly(PER_SECOND).isUnmodifiable();
	}

	@Test
	void formOfTheStateIsTheAlgorithmAndTheWindows() {
		assertThat(Policy.of("api", new FixedWindow(), PER_HOUR, PER_SECOND, Limit.parse("5/15m")).stateForm())
			.isEqualTo("fw-s-15m-h");
		assertThat(Policy.of("api", new SlidingLog(), Limit.parse("3/500ms")).stateForm()).isEqualTo("sl-500ms");
		Limit week = Limit.parse("5/week");
		assertThat(Policy.of("api", new FixedWindow(), week, Limit.parse("9/7d")).stateForm()).isEqualTo("fw-7d-week");
		assertThat(Policy.of("api", new FixedWindow(2, UTC, SUNDAY), week).stateForm()).isEqualTo("fwr2w7-week");
	}

	@Test
	void largestCostIsOfTheLimitThatAllowsMost() {
		assertThat(Policy.of("api", new FixedWindow(), PER_SECOND, PER_MINUTE).largestCost()).isEqualTo(120);
		assertThat(Policy.of("api", new FixedWindow(), Limit.parse("9/s"), Limit.parse("0/m")).largestCost())
			.isEqualTo(9);
		assertThat(Policy.of("api", new TokenBucket(50L), PER_SECOND).largestCost()).isEqualTo(50);
		assertThat(Policy.of("api", new FixedWindow(), Limit.parse("0/m")).largestCost()).isZero();
	}

	@Test
	void leaseStaysWhenLimitsChange() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/s")).withLease(Duration.ofSeconds(1));
		assertThat(policy.withLimits(List.of(Limit.parse("20/s"))).lease()).isEqualTo(Duration.ofSeconds(1));
		assertThat(policy.withLease(null)).isEqualTo(Policy.of("api", new FixedWindow(), Limit.parse("10/s")));
	}

}
