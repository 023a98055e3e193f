package io.github.ratelimit.spring.test;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LimitClockTests {

	private final LimitClock clock = new LimitClock();

	@Test
	void clockStandsStillUntilItIsSet() {
		Instant start = this.clock.instant();
		assertThat(this.clock.instant()).isEqualTo(start);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.clock.instant()).isEqualTo(start.plusMillis(1));
		this.clock.set(start.minusSeconds(5));
		assertThat(this.clock.instant()).isEqualTo(start.minusSeconds(5));
	}

	@Test
	void impossibleTimesAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.advance(Duration.ofNanos(-1)))
			.withMessage("Invalid time (PT-0.000000001S): must not be negative.");
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.set(Instant.ofEpochMilli(-1)))
			.withMessage("Invalid time (1969-12-31T23:59:59.999Z): must not be before 1970.");
	}

}
