package io.github.ratelimit.spring.decide;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LoggedOnce}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LoggedOnceTests {

	@Test
	void hundredSubjectsAreLoggedOnceEach(CapturedOutput output) {
		LoggedOnce warnings = new LoggedOnce(LoggedOnceTests.class);
		assertThat(warnings.contains(0)).isFalse();
		Stream.iterate(0, (i) -> i + 1).limit(300).forEach((i) -> warnings.warn(i / 2, "Subject {} of a test", i / 2));
		assertThat(output.toString().lines().filter((line) -> line.endsWith("of a test"))).hasSize(100)
			.doesNotHaveDuplicates();
		assertThat(warnings.contains(99)).isTrue();
		assertThat(warnings.contains(100)).isTrue();
	}

}
