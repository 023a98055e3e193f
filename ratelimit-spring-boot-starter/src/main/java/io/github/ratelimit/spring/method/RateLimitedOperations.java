package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.AnnotatedPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * What {@code @RateLimited} says of methods, read once for each. The first look at a
 * method is when its bean is created, or when the application has started, so that an
 * annotation that cannot be enforced stops the start.
 */
final class RateLimitedOperations {

	private final RateLimitedReader reader;

	private final Map<MethodClassKey, Optional<RateLimitedOperation>> operations = new ConcurrentHashMap<>();

	private final Map<Class<?>, Collection<RateLimitedOperation>> ofTypes = new ConcurrentHashMap<>();

	RateLimitedOperations(RateLimitedReader reader) {
		this.reader = reader;
	}

	/** Returns what was read so far. */
	Stream<RateLimitedOperation> all() {
		return this.operations.values().stream().flatMap(Optional::stream);
	}

	/** Returns the policies of what was read so far. */
	Set<AnnotatedPolicy> annotatedPolicies() {
		return all()
			.flatMap((operation) -> operation.uses()
				.stream()
				.map((use) -> new AnnotatedPolicy(operation.shortPlace(), use.policy())))
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Returns what is said of the methods of a class. All of them are read, though a
	 * proxy of an interface asks for each only when it is called.
	 */
	Collection<RateLimitedOperation> of(Class<?> targetClass) {
		Collection<RateLimitedOperation> operations = this.ofTypes.get(targetClass);
		if (operations == null) {
			// Not computeIfAbsent, which must not be entered twice: to read may create
			// the beans that are needed for it, whose methods are looked at here as well.
			operations = AnnotationUtils.isCandidateClass(targetClass, RateLimited.class)
					? MethodIntrospector.selectMethods(targetClass, (Method method) -> find(method, targetClass))
						.values()
					: List.of();
			this.ofTypes.put(targetClass, operations);
		}
		return operations;
	}

	/**
	 * Refuses a type whose objects, of whatever class they will be, could not be limited
	 * as its annotations say.
	 */
	void check(Class<?> type) {
		if (AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
			MethodIntrospector.selectMethods(type, (Method method) -> this.reader.read(method, type, false));
		}
	}

	/** Returns what is said of a method, by its annotations or those of its class. */
	@Nullable RateLimitedOperation find(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<RateLimitedOperation> operation = this.operations.get(key);
		if (operation == null) {
			operation = Optional.ofNullable(this.reader.read(method, targetClass, true));
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

}
