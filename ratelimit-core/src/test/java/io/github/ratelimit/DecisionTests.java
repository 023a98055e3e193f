package io.github.ratelimit;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.ratelimit.algorithm.FixedWindow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class DecisionTests {

	private static final Limit LIMIT = Limit.parse("10/s");

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), LIMIT);

	/**
	 * Zero if it is allowed, otherwise the longest; none if one limit never allows it.
	 */
	@ParameterizedTest
	@CsvSource({ "true, 0 0, PT0S, 0", "false, 0 7 1500000 3, PT1.5S, 3", "false, 5 -1 9 0, , 3", "false, '', , 0" })
	void retryAfterIsThatOfTheViolatedLimits(boolean allowed, String micros, @Nullable Duration retryAfter,
			int violated) {
		Decision decision = new Decision(allowed,
				Stream.of(micros.split(" "))
					.filter((each) -> !each.isEmpty())
					.map(Long::parseLong)
					.map((each) -> LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, LIMIT, 4, 2, each, each != 0))
					.toList());
		assertThat(decision.retryAfter()).isEqualTo(Optional.ofNullable(retryAfter));
		assertThat(decision.violated()).hasSize(violated).allMatch(LimitStatus::violated);
	}

	@Test
	void statusHoldsMicroseconds() {
		LimitStatus status = LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, LIMIT, 4, 1, 1_000_001, true);
		assertThat(status).isEqualTo(new LimitStatus(POLICY, Identifier.GLOBAL, LIMIT, 4, Duration.ofNanos(1000),
				Duration.ofSeconds(1, 1000), true));
		LimitStatus never = LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, LIMIT, 4, 0, -1, true);
		assertThat(never.retryAfter()).isNull();
	}

}
