package io.github.ratelimit.spring.config;

import java.lang.reflect.AnnotatedElement;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BeanConditions}.
 */
class BeanConditionsTests {

	private static final String LIBRARY = "io.github.ratelimit.";

	/** Otherwise a property would have no effect ahead of time, without a word. */
	@Test
	void everyPropertyOfAConditionIsCompared() {
		Set<String> properties = new TreeSet<>();
		elements().forEach((element) -> {
			MergedAnnotations annotations = MergedAnnotations.from(element);
			annotations.stream(ConditionalOnBooleanProperty.class)
				.forEach((condition) -> properties.addAll(names(condition)));
			annotations.stream(ConditionalOnProperty.class).forEach((condition) -> properties.addAll(names(condition)));
			assertThat(annotations.stream(Conditional.class)
				.flatMap((condition) -> Stream.of(condition.getClassArray("value")))).as("conditions of the library")
				.noneMatch((type) -> type.getName().startsWith(LIBRARY));
		});
		assertThat(BeanConditions.current(new MockEnvironment()).keySet()).containsExactlyElementsOf(properties);
	}

	private static List<String> names(MergedAnnotation<?> condition) {
		String prefix = condition.getString("prefix");
		return Stream.of("name", "value")
			.flatMap((attribute) -> Stream.of(condition.getStringArray(attribute)))
			.distinct()
			.map((name) -> prefix.isEmpty() ? name : prefix + "." + name)
			.toList();
	}

	private static Stream<AnnotatedElement> elements() {
		return StreamSupport
			.stream(ImportCandidates.load(AutoConfiguration.class, BeanConditionsTests.class.getClassLoader())
				.spliterator(), false)
			.filter((name) -> name.startsWith(LIBRARY))
			.map((name) -> ClassUtils.resolveClassName(name, null))
			.flatMap(BeanConditionsTests::elements);
	}

	private static Stream<AnnotatedElement> elements(Class<?> type) {
		return Stream.concat(Stream.concat(Stream.of(type), Stream.of(type.getDeclaredMethods())),
				Stream.of(type.getDeclaredClasses()).flatMap(BeanConditionsTests::elements));
	}

}
