package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/**
 * Advises methods with {@code @RateLimited}: a call proceeds only if its policies allow
 * it. A method is read once: when its bean is created or when the application has
 * started, so that an annotation that cannot be enforced fails at startup.
 */
final class RateLimitedAdvisor extends StaticMethodMatcherPointcutAdvisor implements AnnotatedPolicies {

	private final transient RateLimitedReader reader;

	private final transient Supplier<PolicyEnforcer> enforcer;

	private final transient Map<MethodClassKey, Optional<LimitedMethod>> methods = new ConcurrentHashMap<>();

	private final transient AnnotatedTypes annotated = new AnnotatedTypes();

	private final transient Map<Class<?>, Collection<LimitedMethod>> ofTypes = new ConcurrentHashMap<>();

	/**
	 * Creates an advisor, before other beans.
	 * @param enforcer called when the first annotation is found
	 * @param order among other advisors
	 */
	RateLimitedAdvisor(RateLimitedReader reader, Supplier<PolicyEnforcer> enforcer, int order) {
		this.reader = reader;
		this.enforcer = enforcer;
		setClassFilter((type) -> !limited(type).isEmpty());
		setAdvice((MethodInterceptor) this::invoke);
		setOrder(order);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return limited(method, targetClass) != null;
	}

	private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		LimitedMethod method = (target != null) ? limited(invocation.getMethod(), target.getClass()) : null;
		return (method != null) ? method.result().limit(new LimitedCall(method, invocation, this.enforcer.get()))
				: invocation.proceed();
	}

	@Override
	public Map<String, Set<IdentifiedPolicy>> byPlace() {
		Map<String, Set<IdentifiedPolicy>> policies = new TreeMap<>();
		this.methods.values()
			.forEach((limited) -> limited
				.ifPresent((method) -> policies.computeIfAbsent(method.shortPlace(), (place) -> new LinkedHashSet<>())
					.addAll(method.policies())));
		return policies;
	}

	@Override
	public List<IdentifiedPolicy> find(Method method, Class<?> targetClass) {
		LimitedMethod limited = limited(method, targetClass);
		return (limited != null) ? limited.policies() : List.of();
	}

	/**
	 * Returns the limited methods of a class. All of them are read, although a proxy of
	 * an interface requests each only when it is called.
	 */
	Collection<LimitedMethod> limited(Class<?> targetClass) {
		Collection<LimitedMethod> limited = this.ofTypes.get(targetClass);
		if (limited == null) {
			// Not computeIfAbsent, which is not reentrant: reading may create beans
			// whose methods are read here as well.
			boolean candidate = this.annotated.isAnywhere(targetClass);
			limited = candidate
					? MethodIntrospector.selectMethods(targetClass, (Method method) -> limited(method, targetClass))
						.values()
					: List.of();
			if (candidate && limited.isEmpty()) {
				CoveredMethods.requireAny(ClassUtils.getUserClass(targetClass));
			}
			this.ofTypes.put(targetClass, limited);
		}
		return limited;
	}

	/**
	 * Returns the limited method of a class, or of one of its interfaces; {@code null} if
	 * it has no annotations.
	 */
	@Nullable LimitedMethod limited(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LimitedMethod> limited = this.methods.get(key);
		if (limited == null) {
			limited = Optional.ofNullable(this.reader.read(method, targetClass));
			this.methods.put(key, limited);
		}
		return limited.orElse(null);
	}

}
