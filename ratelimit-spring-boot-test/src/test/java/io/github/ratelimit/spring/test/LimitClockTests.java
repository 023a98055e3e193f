package io.github.ratelimit.spring.test;

import java.time.Duration;
import java.time.Instant;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
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
			.withMessage("Invalid time (1969-12-31T23:59:59.999Z): must be from 1970-01-01T00:00:00Z to "
					+ "2255-06-05T23:47:34.740991Z.");
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.set(Instant.MAX));
	}

	@Test
	void timesThatNoStoreCanCalculateWithAreRefused() {
		Instant last = Instant.parse("2255-06-05T23:47:34.740991Z");
		this.clock.set(last.minusSeconds(1));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(Meter.micros(this.clock.instant())).isEqualTo(Limit.MAX_QUOTA);
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.set(last.plusNanos(1000)))
			.withMessage("Invalid time (2255-06-05T23:47:34.740992Z): must be from 1970-01-01T00:00:00Z to "
					+ "2255-06-05T23:47:34.740991Z.");
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.advance(Duration.ofNanos(1000)))
			.withMessage("Invalid time (PT0.000001S): must not lead from 2255-06-05T23:47:34.740991Z beyond "
					+ "2255-06-05T23:47:34.740991Z.");
		assertThatIllegalArgumentException().isThrownBy(() -> this.clock.advance(Duration.ofSeconds(Long.MAX_VALUE)));
		assertThat(this.clock.instant()).isEqualTo(last);
	}

}
