package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisRuntimeHints}.
 */
class RedisRuntimeHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	@Test
	void everyScriptIsKept() throws IOException {
		new RedisRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
		// Not those of tests, which have algorithms of their own.
		List<Resource> scripts = new ArrayList<>();
		for (String folder : List.of("algorithm", "redis")) {
			scripts.addAll(List.of(new PathMatchingResourcePatternResolver()
				.getResources("classpath*:io/github/ratelimit/" + folder + "/**/*.lua")));
		}
		assertThat(scripts).hasSizeGreaterThan(4).allSatisfy((script) -> {
			String url = script.getURL().toString();
			assertThat(RuntimeHintsPredicates.resource()
				.forResource(url.substring(url.lastIndexOf("io/github/ratelimit/")))).accepts(this.hints);
		});
	}

}
