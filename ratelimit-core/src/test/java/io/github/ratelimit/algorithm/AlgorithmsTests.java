package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.test.RateLimiterContract;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Names of algorithms, and which options are refused.
 */
class AlgorithmsTests {

	@Test
	void algorithmIsFoundByItsNameOrAlias() {
		assertThat(Algorithms.all()).containsExactlyElementsOf(RateLimiterContract.algorithms().toList())
			.allSatisfy((algorithm) -> assertThat(Algorithms.find(algorithm.name())).contains(algorithm));
		assertThat(Algorithms.find("sliding-tail")).contains(new SlidingWindowCounter());
		assertThat(Algorithms.find("gcra")).contains(new LeakyBucket());
		for (String name : List.of("", "Fixed-Window", "fixed_window", "sliding")) {
			assertThat(Algorithms.find(name)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, 0, 94_906_266 })
	void burstOutOfRangeIsRefused(long burst) {
		assertThatIllegalArgumentException().isThrownBy(() -> new TokenBucket(burst))
			.withMessage("Invalid burst (" + burst + "): must be from 1 to 94906265 tokens.");
	}

	@Test
	void burstOfSeveralLimitsIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", new TokenBucket(5L), Limit.parse("1/s"), Limit.parse("9/m")))
			.withMessage(
					"Invalid burst (5): with a burst, a policy must have one limit, but has [1/s, 9/m]; use two policies, or remove the burst.");
	}

	@Test
	void burstThatWouldNeverRefillIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", new TokenBucket(10L), Limit.parse("1/3650d")))
			.withMessage("Invalid burst (10): at 1/3650d it would take more than 95 years to refill.");
		assertThat(Policy.of("api", new TokenBucket(9L), Limit.parse("1/3650d")).limits()).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT-1S", "PT0.0005S", "PT0.0015S", "P3651D" })
	void precisionOutOfRangeIsRefused(Duration precision) {
		assertThatIllegalArgumentException().isThrownBy(() -> new SlidingWindow(precision))
			.withMessage("Invalid precision (" + precision + "): must be whole milliseconds, at least 1ms.");
	}

	@Test
	void precisionLongerThanTheShortestWindowIsRefused() {
		SlidingWindow algorithm = new SlidingWindow(Duration.ofSeconds(2));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", algorithm, Limit.parse("9/m"), Limit.parse("1/s")))
			.withMessage("Invalid precision (PT2S): must not be longer than the window of 1/s.");
	}

	/** Such a log is read whole with each request. */
	@Test
	void largeQuotaWithMetadataIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", new SlidingLog(true), Limit.parse("5/s"), Limit.parse("1001/m")))
			.withMessage("Invalid limit (1001/m): the quota must be at most 1000 for sliding-log.");
		assertThat(Policy.of("api", new SlidingLog(true), Limit.parse("1000/m")).limits()).hasSize(1);
		assertThat(Policy.of("api", new SlidingLog(), Limit.parse("100000/m")).limits()).hasSize(1);
	}

	@Test
	void moreSubWindowsThanFitIsRefused() {
		Algorithm fine = new SlidingWindow(Duration.ofMillis(16));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("api", fine, Limit.parse("10/s"), Limit.parse("20000/h")))
			.withMessage("Invalid precision (PT0.016S): the window of 20000/h would have 225000 sub-windows, "
					+ "more than 10000; set a longer precision.");
		assertThat(Policy.of("api", fine, Limit.parse("10/s"), Limit.parse("10000/h")).limits()).hasSize(2);
		assertThat(Policy.of("api", new SlidingWindow(), Limit.parse("10/s"), Limit.parse("20000/h")).limits())
			.hasSize(2);
	}

}
