package io.github.ratelimit.spring.policy;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link InvalidValueFailureAnalyzer}.
 */
class InvalidValueFailureAnalyzerTests {

	private final MockEnvironment environment = new MockEnvironment();

	@Test
	void listOfTheLimiterIsAnalyzed() {
		this.environment.setProperty("ratelimit.deny[0]", "ip:x");
		assertThat(analyze(new InvalidConfigurationPropertyValueException("ratelimit.deny", List.of("ip:x"), "wrong")))
			.isNotNull()
			.satisfies((analysis) -> assertThat(analysis.getDescription())
				.contains("'ratelimit.deny' (originating from '\"ratelimit.deny[0]\""));
	}

	@ParameterizedTest
	@ValueSource(strings = { "server.hosts", "ratelimiter.hosts", "spring.data.redis.cluster.nodes" })
	void propertyOfOthersIsLeftToOtherAnalyzers(String property) {
		this.environment.setProperty(property + "[0]", "a");
		assertThat(analyze(new InvalidConfigurationPropertyValueException(property, List.of("a"), "wrong"))).isNull();
	}

	/** Or Spring Boot would look up the value and show it. */
	@Test
	void valueThatMustNotBeShownIsHiddenWhateverItsPropertyIs() {
		this.environment.setProperty("spring.data.redis.url", "http://user:secret@a");
		assertThat(analyze(new HiddenValueException("spring.data.redis.url", "http://***@a", "wrong"))).isNotNull()
			.satisfies((analysis) -> assertThat(analysis.getDescription()).contains("'http://***@a'")
				.doesNotContain("secret"));
	}

	private @Nullable FailureAnalysis analyze(InvalidConfigurationPropertyValueException failure) {
		return new InvalidValueFailureAnalyzer(this.environment).analyze(failure);
	}

}
