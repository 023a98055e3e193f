package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.util.StringValueResolver;

/**
 * Advises methods with {@code @RateLimited}: a call proceeds only if its policies allow
 * it.
 */
final class RateLimitedAdvisor extends StaticMethodMatcherPointcutAdvisor implements AnnotatedPolicies {

	private final transient RateLimitedOperations operations;

	/**
	 * Creates an advisor. The suppliers are called only when the first annotation is
	 * found, because an advisor is created before other beans.
	 * @param policies supplies the policies that annotations may name
	 * @param algorithms returns the algorithm of a name, and throws
	 * {@link IllegalArgumentException} for an unknown one
	 * @param enforcer supplies the enforcer of the policies
	 * @param placeholders resolves the placeholders in annotations, and throws
	 * {@link IllegalArgumentException} for an unknown one
	 * @param order the order among other advisors
	 */
	RateLimitedAdvisor(Supplier<ConfiguredPolicies> policies, Function<String, Algorithm> algorithms,
			Supplier<PolicyEnforcer> enforcer, StringValueResolver placeholders, int order) {
		this.operations = new RateLimitedOperations(
				new RateLimitedReader(policies, algorithms, enforcer, placeholders));
		setClassFilter((type) -> !this.operations.of(type).isEmpty());
		setAdvice(new RateLimitedInterceptor(this.operations, enforcer));
		setOrder(order);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.operations.find(method, targetClass) != null;
	}

	@Override
	public Map<String, Set<IdentifiedPolicy>> byPlace() {
		return this.operations.byPlace();
	}

	@Override
	public List<IdentifiedPolicy> find(Method method, Class<?> targetClass) {
		RateLimitedOperation operation = this.operations.find(method, targetClass);
		return (operation != null) ? operation.policies() : List.of();
	}

	/** Returns the limited methods that this advisor knows. */
	RateLimitedOperations operations() {
		return this.operations;
	}

	private record RateLimitedInterceptor(RateLimitedOperations operations,
			Supplier<PolicyEnforcer> enforcer) implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			Object target = invocation.getThis();
			RateLimitedOperation operation = (target != null)
					? this.operations.find(invocation.getMethod(), target.getClass()) : null;
			if (target == null || operation == null) {
				return invocation.proceed();
			}
			return operation.result().limit(new LimitedCall(operation, target, invocation, this.enforcer.get()));
		}

	}

}
