package io.github.ratelimit.spring.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.InvalidRateLimitedException;
import io.github.ratelimit.spring.PolicyEnforcer;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Reads {@code @RateLimited}, once for each method. The first look at a method is when
 * its bean is created, so that an annotation that cannot be enforced stops the start.
 */
final class RateLimitedOperations {

	private final Supplier<ConfiguredPolicies> policies;

	private final Supplier<PolicyEnforcer> enforcer;

	private final Map<MethodClassKey, Optional<RateLimitedOperation>> operations = new ConcurrentHashMap<>();

	/** Where each policy that is written in place stands. */
	private final Map<String, String> places = new ConcurrentHashMap<>();

	/** What is limited by each policy, as far as it has been looked at. */
	private final Map<IdentifiedPolicy, Set<String>> limited = new ConcurrentHashMap<>();

	RateLimitedOperations(Supplier<ConfiguredPolicies> policies, Supplier<PolicyEnforcer> enforcer) {
		this.policies = policies;
		this.enforcer = enforcer;
	}

	/**
	 * Returns whether any method of the class has an annotation. All of them are read,
	 * though a proxy of an interface asks for each only when it is called.
	 */
	boolean existIn(Class<?> targetClass) {
		return AnnotationUtils.isCandidateClass(targetClass, RateLimited.class)
				&& !MethodIntrospector.selectMethods(targetClass, (Method method) -> find(method, targetClass))
					.isEmpty();
	}

	Map<IdentifiedPolicy, Set<String>> limited() {
		return Map.copyOf(this.limited);
	}

	/** Returns what the annotation of the method, or else of its class, says. */
	@Nullable RateLimitedOperation find(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<RateLimitedOperation> operation = this.operations.get(key);
		if (operation == null) {
			// Not computeIfAbsent, which must not be entered twice: to read may create
			// the beans that are needed for it, whose methods are looked at here as well.
			operation = Optional.ofNullable(read(method, targetClass));
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	private @Nullable RateLimitedOperation read(Method method, Class<?> targetClass) {
		if (method.getDeclaringClass() == Object.class) {
			return null;
		}
		Class<?> type = ClassUtils.getUserClass(targetClass);
		Method specific = AopUtils.getMostSpecificMethod(method, type);
		RateLimited onMethod = annotation(specific);
		if (onMethod != null) {
			requireInterceptable(specific);
			return read(onMethod, type.getSimpleName() + '.' + specific.getName(), place(specific, type));
		}
		RateLimited onType = isCoveredByType(specific) ? annotation(type) : null;
		if (onType == null) {
			return null;
		}
		requireInterceptable(specific);
		return read(onType, type.getSimpleName(), type.getName());
	}

	/** Each class that inherits a method has a policy of its own for it. */
	private static String place(Method method, Class<?> type) {
		String text = method.toGenericString();
		return (method.getDeclaringClass() == type) ? text : text + " in " + type.getName();
	}

	private static boolean isCoveredByType(Method method) {
		return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0 && !method.isSynthetic()
				&& !ReflectionUtils.isObjectMethod(method);
	}

	private static void requireInterceptable(Method method) {
		if ((method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) != 0) {
			throw new InvalidRateLimitedException(method.toGenericString(),
					new IllegalArgumentException("calls of private, static and final methods cannot be intercepted."));
		}
	}

	private static @Nullable RateLimited annotation(AnnotatedElement element) {
		return AnnotatedElementUtils.findMergedAnnotation(element, RateLimited.class);
	}

	private RateLimitedOperation read(RateLimited annotation, String name, String place) {
		try {
			IdentifiedPolicy policy = annotation.policy().isEmpty() ? inPlace(annotation, name, place)
					: configured(annotation);
			policy.identifiers().forEach(this.enforcer.get()::requireKnown);
			this.enforcer.get().requireSupported(policy.policy());
			policy.requirePossible(annotation.cost());
			this.limited.computeIfAbsent(policy, (key) -> ConcurrentHashMap.newKeySet()).add(name);
			return new RateLimitedOperation(policy, annotation.cost());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidRateLimitedException(place, ex);
		}
	}

	private IdentifiedPolicy configured(RateLimited annotation) {
		String name = annotation.policy();
		if (annotation.limits().length > 0 || !annotation.algorithm().isEmpty()) {
			throw new IllegalArgumentException(
					"the policy '%s' has its own limits and algorithm, so there must be none here.".formatted(name));
		}
		IdentifiedPolicy policy = this.policies.get()
			.find(name)
			.orElseThrow(() -> new IllegalArgumentException("there is no policy '%s' below ratelimit.policies, only %s."
				.formatted(name, this.policies.get().policies().keySet().stream().sorted().toList())));
		return (annotation.identifiers().length == 0) ? policy
				: policy.withIdentifiers(List.of(annotation.identifiers()));
	}

	private IdentifiedPolicy inPlace(RateLimited annotation, String name, String place) {
		if (annotation.limits().length == 0) {
			throw new IllegalArgumentException("it must name a policy or have limits.");
		}
		String other = this.policies.get().find(name).isPresent() ? "ratelimit.policies"
				: this.places.putIfAbsent(name, place);
		if (other != null && !other.equals(place)) {
			throw new IllegalArgumentException(
					"its policy would be named '%s', as the one of %s already is; give one of them a name below ratelimit.policies."
						.formatted(name, other));
		}
		Policy policy = new Policy(name,
				annotation.algorithm().isEmpty() ? new SlidingLog() : Algorithms.named(annotation.algorithm()),
				Arrays.stream(annotation.limits()).map(Limit::parse).toList());
		List<String> identifiers = List.of(annotation.identifiers());
		return new IdentifiedPolicy(policy,
				identifiers.isEmpty() ? this.policies.get().defaultIdentifiers() : identifiers);
	}

}
