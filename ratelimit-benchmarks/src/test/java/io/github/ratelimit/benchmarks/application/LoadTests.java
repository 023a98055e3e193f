package io.github.ratelimit.benchmarks.application;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LoadTests {

	@Test
	void loadIsReadFromTheLineOfTheScript() {
		Load load = Load.parse("Running 1s test\nresult 1000 2000000 995 1 800 9000\n");
		assertThat(load).isEqualTo(new Load(1000, 2_000_000, 995, 1, 800, 9000));
		assertThat(load.requestsPerSecond()).isEqualTo(500);
		assertThat(Scenario.DENIED.wrong(load)).isZero();
		assertThat(Scenario.ALLOWED.wrong(load)).isEqualTo(995);
	}

	@Test
	void moreAllowedThanTheLimitIsWrong() {
		assertThat(Scenario.DENIED.wrong(new Load(1000, 1, 900, 0, 1, 1))).isEqualTo(95);
	}

	@Test
	void outputWithoutThatLineIsAnError() {
		assertThatIllegalStateException().isThrownBy(() -> Load.parse("unable to connect"))
			.withMessageContaining("unable to connect");
	}

}
