package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds limited methods by their own {@code @RateLimited} annotations or those of their
 * type. A method is read once: when its bean is created or when the application has
 * started, so that an annotation that cannot be enforced fails at startup.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitedOperations {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitedOperations.class);

	private final RateLimitedReader reader;

	private final Map<MethodClassKey, Optional<RateLimitedOperation>> operations = new ConcurrentHashMap<>();

	private final Map<Class<?>, Collection<RateLimitedOperation>> ofTypes = new ConcurrentHashMap<>();

	RateLimitedOperations(RateLimitedReader reader) {
		this.reader = reader;
	}

	/** Returns the methods read so far. */
	Stream<RateLimitedOperation> all() {
		return this.operations.values().stream().flatMap(Optional::stream);
	}

	/** Returns the policies of the methods read so far, by the annotated elements. */
	Map<String, Set<IdentifiedPolicy>> byPlace() {
		Map<String, Set<IdentifiedPolicy>> policies = new TreeMap<>();
		all().forEach((operation) -> policies.computeIfAbsent(operation.shortPlace(), (place) -> new LinkedHashSet<>())
			.addAll(operation.policies()));
		return policies;
	}

	/**
	 * Returns the limited methods of a class. All of them are read, although a proxy of
	 * an interface requests each only when it is called.
	 */
	Collection<RateLimitedOperation> of(Class<?> targetClass) {
		Collection<RateLimitedOperation> operations = this.ofTypes.get(targetClass);
		if (operations == null) {
			// Not computeIfAbsent, which is not reentrant: reading may create beans
			// whose methods are read here as well.
			operations = AnnotationUtils.isCandidateClass(targetClass, RateLimited.class)
					? MethodIntrospector.selectMethods(targetClass, (Method method) -> find(method, targetClass))
						.values()
					: List.of();
			this.ofTypes.put(targetClass, operations);
		}
		return operations;
	}

	/**
	 * Refuses a type whose annotations cannot be enforced, whatever the class of its
	 * objects.
	 */
	void check(Class<?> type) {
		if (AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
			MethodIntrospector.selectMethods(type, (Method method) -> read(method, type, false));
		}
	}

	/**
	 * Returns a limited method.
	 * @param method the method, of the class or of one of its interfaces
	 * @param targetClass the class of the object
	 * @return the limited method; {@code null} if it has no annotations
	 */
	@Nullable RateLimitedOperation find(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<RateLimitedOperation> operation = this.operations.get(key);
		if (operation == null) {
			operation = Optional.ofNullable(read(method, targetClass, true));
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	private @Nullable RateLimitedOperation read(Method method, Class<?> targetClass, boolean claim) {
		if (method.getDeclaringClass() == Object.class) {
			return null;
		}
		Class<?> type = ClassUtils.getUserClass(targetClass);
		Method specific = AopUtils.getMostSpecificMethod(method, type);
		RateLimitedAnnotations onMethod = RateLimitedAnnotations.ofMethod(specific, type);
		if (onMethod != null) {
			Class<?> named = named(type, onMethod);
			String place = specific.toGenericString();
			if (specific.getDeclaringClass() != named) {
				// Each class that inherits a method has its own policy for it.
				place += " in " + named.getName();
			}
			if ((specific.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) != 0) {
				throw InvalidRateLimitedException.notIntercepted(place, specific);
			}
			return this.reader.read(onMethod, new RateLimitedReader.Element(specific, type,
					named.getSimpleName() + '.' + specific.getName(), place, true, claim));
		}
		if (!mayBeCoveredByType(specific)) {
			return null;
		}
		RateLimitedAnnotations onType = RateLimitedAnnotations.ofType(type);
		if (onType == null || isOutOfReach(specific, type, onType.declaringClass(), claim)) {
			return null;
		}
		Class<?> named = named(type, onType);
		return this.reader.read(onType,
				new RateLimitedReader.Element(specific, type, named.getSimpleName(), named.getName(), false, claim));
	}

	/** Proxies and lambdas have no stable name, but the types that they implement do. */
	private static Class<?> named(Class<?> type, RateLimitedAnnotations annotations) {
		return (Proxy.isProxyClass(type) || type.isHidden()) ? annotations.declaringClass() : type;
	}

	private static boolean mayBeCoveredByType(Method method) {
		return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0 && !method.isSynthetic()
				&& !ReflectionUtils.isObjectMethod(method);
	}

	/**
	 * Returns whether a method is inherited from above the annotated type and cannot be
	 * overridden: a base class of a library must not prevent the annotation.
	 */
	private static boolean isOutOfReach(Method method, Class<?> type, Class<?> annotated, boolean log) {
		if (annotated.isAssignableFrom(method.getDeclaringClass()) || canBeOverridden(method, type)) {
			return false;
		}
		if (log) {
			logger.info("@RateLimited on {} does not limit the inherited method {}, which cannot be intercepted",
					annotated.getName(), method);
		}
		return true;
	}

	static boolean canBeOverridden(Method method, Class<?> type) {
		int modifiers = method.getModifiers();
		boolean visible = (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
				|| method.getDeclaringClass().getPackageName().equals(type.getPackageName());
		return visible && !Modifier.isFinal(modifiers);
	}

}
