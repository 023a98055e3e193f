package io.github.ratelimit.spring.method;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.spring.annotation.RateLimited;

import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ReflectionUtils;

/**
 * Tells which types have {@code @RateLimited} anywhere. The methods of others, which are
 * nearly all beans of an application, are not read.
 * <p>
 * Safe for use by several threads.
 */
final class AnnotatedTypes {

	private final Map<Class<?>, Boolean> types = new ConcurrentHashMap<>();

	private final Map<Class<? extends Annotation>, Boolean> annotations = new ConcurrentHashMap<>();

	/**
	 * Returns whether a type, one of its methods, or one of those that it inherits has
	 * the annotation, or one that is composed of it.
	 */
	boolean isAnywhere(Class<?> type) {
		Boolean known = this.types.get(type);
		if (known == null) {
			known = AnnotationUtils.isCandidateClass(type, RateLimited.class)
					&& (isOn(type) || Arrays.stream(ReflectionUtils.getDeclaredMethods(type)).anyMatch(this::isOn)
							|| (type.getSuperclass() != null && isAnywhere(type.getSuperclass()))
							|| Arrays.stream(type.getInterfaces()).anyMatch(this::isAnywhere));
			this.types.put(type, known);
		}
		return known;
	}

	private boolean isOn(AnnotatedElement element) {
		return Arrays.stream(element.getDeclaredAnnotations())
			.map(Annotation::annotationType)
			.anyMatch((type) -> this.annotations.computeIfAbsent(type, AnnotatedTypes::isLimit));
	}

	private static boolean isLimit(Class<? extends Annotation> type) {
		return type == RateLimited.class || type == RateLimited.List.class
				|| MergedAnnotations.from(type).isPresent(RateLimited.class)
				|| MergedAnnotations.from(type).isPresent(RateLimited.List.class);
	}

}
