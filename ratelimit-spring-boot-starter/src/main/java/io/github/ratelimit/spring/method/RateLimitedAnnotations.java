package io.github.ratelimit.spring.method;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;

/**
 * The {@code @RateLimited} annotations of one method or of one type.
 *
 * @param source the method or class that has them
 * @param annotations at least one
 */
record RateLimitedAnnotations(Object source, List<RateLimited> annotations) {

	/**
	 * Finds the annotations of a method, or of those that it overrides or implements.
	 */
	static @Nullable RateLimitedAnnotations ofMethod(Method method, Class<?> type) {
		RateLimitedAnnotations annotations = nearest(Stream.of(method));
		if (annotations != null) {
			return annotations;
		}
		// A class may implement an interface with a method inherited from a class that
		// does not implement the interface.
		return nearest(ClassUtils.getAllInterfacesForClassAsSet(type)
			.stream()
			.flatMap((candidate) -> Arrays.stream(candidate.getMethods()))
			.filter((candidate) -> candidate.getName().equals(method.getName())
					&& candidate.getParameterCount() == method.getParameterCount()
					&& !Modifier.isStatic(candidate.getModifiers())
					&& AopUtils.getMostSpecificMethod(candidate, type).equals(method)));
	}

	/** Finds the annotations of a type, or of those that it extends or implements. */
	static @Nullable RateLimitedAnnotations ofType(Class<?> type) {
		return nearest(Stream.of(type));
	}

	private static @Nullable RateLimitedAnnotations nearest(Stream<? extends AnnotatedElement> elements) {
		Map<Object, List<RateLimited>> found = elements
			.flatMap((element) -> MergedAnnotations
				.from(element, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
				.stream(RateLimited.class))
			.collect(Collectors.groupingBy((annotation) -> Objects.requireNonNull(annotation.getSource()),
					LinkedHashMap::new, Collectors.mapping(MergedAnnotation::synthesize, Collectors.toList())));
		List<RateLimitedAnnotations> all = found.entrySet()
			.stream()
			.map((entry) -> new RateLimitedAnnotations(entry.getKey(), entry.getValue()))
			.toList();
		List<RateLimitedAnnotations> nearest = all.stream()
			.filter((one) -> all.stream()
				.noneMatch((other) -> other.declaringClass() != one.declaringClass()
						&& one.declaringClass().isAssignableFrom(other.declaringClass())))
			.toList();
		if (nearest.size() > 1) {
			throw new InvalidRateLimitedException(nearest.get(0).place(), new IllegalArgumentException(
					"there is another on %s, and neither is nearer to the class that inherits both; annotate that class or its method instead."
						.formatted(nearest.get(1).place())));
		}
		return nearest.isEmpty() ? null : nearest.get(0);
	}

	Class<?> declaringClass() {
		return (this.source instanceof Member member) ? member.getDeclaringClass() : (Class<?>) this.source;
	}

	String place() {
		return (this.source instanceof Method method) ? method.toGenericString() : declaringClass().getName();
	}

}
