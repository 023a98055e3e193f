package io.github.ratelimit.spring.config;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RateLimitRuntimeHints}.
 */
class RateLimitRuntimeHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	@ParameterizedTest
	@MethodSource("caches")
	void generatedClassesOfCachesAreKept(Caffeine<Object, Object> settings) throws ReflectiveOperationException {
		new RateLimitRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
		Object cache = settings.build().asMap();
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(cache.getClass().getName(), "FACTORY"))
			.as(cache.getClass().getName())
			.accepts(this.hints);
		Class<?> node = field(cache, "nodeFactory").getClass();
		assertThat(RuntimeHintsPredicates.reflection().onConstructorInvocation(node.getDeclaredConstructor()))
			.as(node.getName())
			.accepts(this.hints);
	}

	static List<Caffeine<?, ?>> caches() {
		Duration time = Duration.ofSeconds(1);
		return List.of(Caffeine.newBuilder().maximumSize(1).executor(Runnable::run),
				Caffeine.newBuilder().maximumSize(1).evictionListener((key, value, cause) -> {
				}), Caffeine.newBuilder().expireAfterWrite(time).ticker(() -> 0),
				Caffeine.newBuilder().expireAfterWrite(time).maximumSize(1),
				Caffeine.newBuilder().expireAfterAccess(time).maximumSize(1));
	}

	/** What other settings need would be missing in native images. */
	@Test
	void cachesHaveNoOtherSettings() {
		JavaClasses classes = new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
			.importPackages("io.github.ratelimit");
		Set<String> settings = classes.stream()
			.filter((type) -> !type.isEquivalentTo(RateLimitRuntimeHints.class))
			.flatMap((type) -> type.getMethodCallsFromSelf().stream())
			.filter((call) -> call.getTargetOwner().isEquivalentTo(Caffeine.class))
			.map((call) -> call.getTarget().getName())
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(settings).containsExactly("build", "evictionListener", "executor", "expireAfterAccess",
				"expireAfterWrite", "maximumSize", "newBuilder", "ticker");
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
