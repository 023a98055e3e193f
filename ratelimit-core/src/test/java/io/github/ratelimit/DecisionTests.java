package io.github.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DecisionTests {

	private static final Limit LIMIT = Limit.parse("10/s");

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), LIMIT);

	@Test
	void retryAfterIsZeroWhenAllowed() {
		Decision decision = decision(true, 0, 0);
		assertThat(decision.retryAfter()).contains(Duration.ZERO);
		assertThat(decision.violated()).isEmpty();
	}

	@Test
	void retryAfterIsTheLongestOfTheViolatedLimits() {
		Decision decision = decision(false, 0, 7, 1_500_000, 3);
		assertThat(decision.retryAfter()).contains(Duration.ofMillis(1500));
		assertThat(decision.violated()).containsExactlyElementsOf(decision.statuses().subList(1, 4));
	}

	@Test
	void retryAfterIsEmptyWhenOneLimitNeverAllowsIt() {
		Decision decision = decision(false, 5, -1, 9, 0);
		assertThat(decision.retryAfter()).isEmpty();
		assertThat(decision.violated()).containsExactlyElementsOf(decision.statuses().subList(0, 3));
	}

	@Test
	void retryAfterIsEmptyWhenDeniedWithoutNumbers() {
		Decision decision = new Decision(false, List.of());
		assertThat(decision.retryAfter()).isEmpty();
		assertThat(decision.violated()).isEmpty();
	}

	@Test
	void statusHoldsMicroseconds() {
		LimitStatus status = LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, LIMIT, 4, 1, 1_000_001, true);
		assertThat(status).isEqualTo(new LimitStatus(POLICY, Identifier.GLOBAL, LIMIT, 4, Duration.ofNanos(1000),
				Duration.ofSeconds(1, 1000), true));
		LimitStatus never = LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, LIMIT, 4, 0, -1, true);
		assertThat(never.retryAfter()).isNull();
	}

	private static Decision decision(boolean allowed, long... retryAfterMicros) {
		return new Decision(allowed, LongStream.of(retryAfterMicros)
			.mapToObj((micros) -> LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, LIMIT, 4, 2, micros, micros != 0))
			.toList());
	}

}
