package io.github.ratelimit.spring.config;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.convert.DurationStyle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Values of options as they are shown.
 */
class SetOptionsTests {

	@ParameterizedTest
	@ValueSource(strings = { "7ns", "1500us", "500ms", "0s", "-5s", "90s", "1m", "36h", "1d", "3650d" })
	void durationIsShownAsSpringBootReadsIt(String text) {
		assertThat(SetOptions.text(DurationStyle.SIMPLE.parse(text))).isEqualTo(text);
	}

}
