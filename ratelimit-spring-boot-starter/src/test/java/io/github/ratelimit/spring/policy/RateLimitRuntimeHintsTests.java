package io.github.ratelimit.spring.policy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.denial.DenialCache;
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

	/**
	 * Caches as the memory of denials, the plans of users and the counts of who is denied
	 * most have them.
	 */
	@Test
	void generatedClassesOfCachesAreKept() throws ReflectiveOperationException {
		new RateLimitRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
		Duration time = Duration.ofSeconds(1);
		for (Object store : List.of(new DenialCache(time, 1),
				Caffeine.newBuilder().expireAfterWrite(time).maximumSize(1).ticker(() -> 0).build(),
				Caffeine.newBuilder().expireAfterAccess(time).maximumSize(1).ticker(() -> 0).build())) {
			List<Object> caches = (store instanceof Cache<?, ?> cache) ? List.of(cache)
					: caches(field(store, "memory"));
			assertThat(caches).isNotEmpty();
			for (Object cache : caches) {
				Object map = ((Cache<?, ?>) cache).asMap();
				assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(map.getClass().getName(), "FACTORY"))
					.as(map.getClass().getName())
					.accepts(this.hints);
				Class<?> node = field(map, "nodeFactory").getClass();
				assertThat(RuntimeHintsPredicates.reflection().onConstructorInvocation(node.getDeclaredConstructor()))
					.as(node.getName())
					.accepts(this.hints);
			}
		}
	}

	private static List<Object> caches(Object memory) throws ReflectiveOperationException {
		return List.of(field(memory, "verdicts"), field(memory, "blocks"));
	}

	private static Object field(Object object, String name) throws ReflectiveOperationException {
		for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
			for (Field field : type.getDeclaredFields()) {
				if (field.getName().equals(name)) {
					field.setAccessible(true);
					return field.get(object);
				}
			}
		}
		throw new NoSuchFieldException(name);
	}

	@Test
	void textsOfErrorsAreKept() {
		new RateLimitRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
		String bundle = "inet.ipaddr.IPAddressResources";
		assertThat(ResourceBundle.getBundle(bundle).getKeys().hasMoreElements()).isTrue();
		assertThat(RuntimeHintsPredicates.resource().forBundle(bundle)).accepts(this.hints);
	}

}
