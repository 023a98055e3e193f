package io.github.ratelimit.spring.autoconfigure;

import java.io.IOException;
import java.util.ResourceBundle;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RateLimitRuntimeHints}.
 */
class RateLimitRuntimeHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	@Test
	void everyScriptIsKept() throws IOException {
		new RateLimitRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
		Resource[] scripts = new PathMatchingResourcePatternResolver()
			.getResources("classpath*:io/github/ratelimit/**/*.lua");
		assertThat(scripts).hasSizeGreaterThan(4).allSatisfy((script) -> {
			String url = script.getURL().toString();
			assertThat(
					RuntimeHintsPredicates.resource().forResource(url.substring(url.indexOf("io/github/ratelimit/"))))
				.accepts(this.hints);
		});
	}

	@Test
	void textsOfErrorsAreKept() {
		new RateLimitRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
		String bundle = "inet.ipaddr.IPAddressResources";
		assertThat(ResourceBundle.getBundle(bundle).getKeys().hasMoreElements()).isTrue();
		assertThat(RuntimeHintsPredicates.resource().forBundle(bundle)).accepts(this.hints);
	}

}
