package io.github.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PolicyTests {

	private static final Limit PER_SECOND = Limit.parse("10/s");

	private static final Limit PER_MINUTE = Limit.parse("120/m");

	private static final Limit PER_HOUR = Limit.parse("240/h");

	@Test
	void callsThatAreDeniedCannotCount() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Policy("api", new ConcurrentCalls(), List.of(Limit.parse("5/m")), true))
			.withMessage("Invalid policy (api): concurrent-calls cannot count denied requests,"
					+ " because they do not run.");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", new ConcurrentCalls(), Limit.parse("5/m"), Limit.parse("5/h")))
			.withMessage("Invalid limits [5/m, 5/h]: there must be only one for concurrent-calls.");
	}

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

	@ParameterizedTest
	@ValueSource(strings = { "a", "api", "SearchController.search", "my policy", "~!{}:%\"\\", " x " })
	void nameOfPrintableAsciiIsAccepted(String name) {
		assertThat(Policy.of(name, new FixedWindow(), PER_SECOND).name()).isEqualTo(name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "   ", "\t", "a\n", "a\u0000", "a\u007f", "caf\u00e9", "\ud83d\ude00" })
	void nameThatCannotBeSentInAHeaderIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of(name, new FixedWindow(), PER_SECOND))
			.withMessage(
					"Invalid policy name (" + name + "): must be 1 to 128 printable ASCII characters other than '/'.");
	}

	@Test
	void nameThatIsTooLongIsRefused() {
		String longest = "x".repeat(128);
		assertThat(Policy.of(longest, new FixedWindow(), PER_SECOND).name()).isEqualTo(longest);
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of(longest + "x", new FixedWindow(), PER_SECOND))
			.withMessage("Invalid policy name (" + longest
					+ "x): must be 1 to 128 printable ASCII characters other than '/'.");
	}

	@Test
	void policyWithoutLimitsIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of("api", new FixedWindow()))
			.withMessage("Invalid policy (api): must have at least one limit.");
	}

	@Test
	void policyWithTooManyLimitsIsRefused() {
		Limit[] limits = IntStream.rangeClosed(1, Policy.MAX_LIMITS + 1)
			.mapToObj((i) -> Limit.parse("9/" + i + "s"))
			.toArray(Limit[]::new);
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of("api", new FixedWindow(), limits))
			.withMessage("Invalid policy (api): must have at most 20 limits, but has 21.");
	}

	@Test
	void twoLimitsOfOneWindowAreRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", new FixedWindow(), PER_MINUTE, PER_SECOND, Limit.parse("7/60s")))
			.withMessage("Invalid limits [10/s, 120/m, 7/m]: there must be only one limit for the window m.");
	}

	@Test
	void quotaThatTheAlgorithmCannotCountIsRefused() {
		assertThat(Policy.of("api", new SlidingLog(), Limit.parse("100000/m")).limits()).hasSize(1);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", new SlidingLog(), PER_SECOND, Limit.parse("100001/m")))
			.withMessage("Invalid limit (100001/m): the quota must be at most 100000 for sliding-log.");
	}

	@Test
	void formOfTheStateIsTheAlgorithmAndTheWindows() {
		assertThat(Policy.of("api", new FixedWindow(), PER_HOUR, PER_SECOND, Limit.parse("5/15m")).stateForm())
			.isEqualTo("fw-s-15m-h");
		assertThat(Policy.of("api", new SlidingLog(), Limit.parse("3/500ms")).stateForm()).isEqualTo("sl-500ms");
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

	@Test
	void leaseIsRefusedIfDeniedRequestsCount() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/s")).withLease(Duration.ofSeconds(1));
		assertThatIllegalArgumentException().isThrownBy(() -> policy.withCountDenied(true))
			.withMessageStartingWith("Invalid lease (PT1S): must not be combined with count-denied");
	}

}
