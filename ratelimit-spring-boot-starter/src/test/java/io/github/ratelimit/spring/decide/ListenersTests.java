package io.github.ratelimit.spring.decide;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Listeners} and what these log once.
 */
@ExtendWith(OutputCaptureExtension.class)
class ListenersTests {

	private final List<String> told = new ArrayList<>();

	@Test
	void failureIsAWarningThatNamesTheListenerOnce(CapturedOutput output) {
		Listeners<Consumer<String>> listeners = new Listeners<>(() -> List.of(new Failing(), this.told::add));
		for (int i = 0; i < 100; i++) {
			listeners.tell((listener) -> listener.accept("event"));
		}
		assertThat(this.told).hasSize(100);
		assertThat(output.getOut().lines().filter((line) -> line.contains("WARN"))).singleElement()
			.asString()
			.contains(Failing.class.getName(), "failed", IllegalStateException.class.getName());
		listeners.tell((listener) -> listener.accept("other"));
		assertThat(output.getOut().lines().filter((line) -> line.contains("WARN"))).hasSize(2);
	}

	@Test
	void nobodyIsToldWhileTheApplicationIsClosing(CapturedOutput output) {
		new Listeners<Consumer<String>>(() -> {
			throw new IllegalStateException("expected by this test");
		}).tell((listener) -> listener.accept("event"));
		assertThat(output).doesNotContain("WARN");
	}

	@Test
	void hundredSubjectsAreLoggedOnceEach(CapturedOutput output) {
		LoggedOnce warnings = new LoggedOnce(ListenersTests.class);
		assertThat(warnings.contains(0)).isFalse();
		Stream.iterate(0, (i) -> i + 1).limit(300).forEach((i) -> warnings.warn(i / 2, "Subject {} of a test", i / 2));
		assertThat(output.toString().lines().filter((line) -> line.endsWith("of a test"))).hasSize(100)
			.doesNotHaveDuplicates();
		assertThat(warnings.contains(99)).isTrue();
		assertThat(warnings.contains(100)).isTrue();
	}

	private static final class Failing implements Consumer<String> {

		@Override
		public void accept(String event) {
			if (event.equals("other")) {
				throw new IllegalArgumentException("expected by this test");
			}
			throw new IllegalStateException("expected by this test");
		}

	}

}
