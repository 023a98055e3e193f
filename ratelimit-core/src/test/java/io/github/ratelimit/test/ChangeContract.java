package io.github.ratelimit.test;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies that change while they are in use.
 */
public abstract class ChangeContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void changedQuotaTakesEffectOnTheNextRequest(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.limiter.tryAcquire(policy, ALICE, 4);
		assertThat(remaining(withLimit(policy, "2/m"), ALICE)).containsExactly(0L);
		assertThat(this.limiter.tryAcquire(withLimit(policy, "4/m"), ALICE).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(withLimit(policy, "50/m"), ALICE, 4).allowed()).isTrue();
		assertThat(remaining(policy, ALICE)).containsExactly(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void changedWindowStartsAfresh(Algorithm algorithm) {
		this.limiter.tryAcquire(Policy.of("api", algorithm, Limit.parse("5/m")), ALICE, 5);
		assertThat(remaining(Policy.of("api", algorithm, Limit.parse("5/2m")), ALICE)).containsExactly(5L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void changedAlgorithmStartsAfresh(Algorithm algorithm) {
		this.limiter.tryAcquire(Policy.of("api", algorithm, Limit.parse("5/m")), ALICE, 5);
		supportedAlgorithms().filter((other) -> !other.equals(algorithm))
			.forEach((other) -> assertThat(remaining(Policy.of("api", other, Limit.parse("5/m")), ALICE))
				.containsExactly(5L));
	}

}
