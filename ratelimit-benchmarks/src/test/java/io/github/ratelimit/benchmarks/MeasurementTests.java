package io.github.ratelimit.benchmarks;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MeasurementTests {

	@Test
	void lowerQuartileIsAQuarterFromTheLeast() {
		assertThat(Measurement.lowerQuartile(7)).isEqualTo(7);
		assertThat(Measurement.lowerQuartile(5, 3, 9, 1, 7)).isEqualTo(3);
		assertThat(Measurement.lowerQuartile(2, 1)).isEqualTo(1);
	}

}
