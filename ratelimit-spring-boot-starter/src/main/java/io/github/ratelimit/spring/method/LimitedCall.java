package io.github.ratelimit.spring.method;

import java.util.List;
import java.util.function.Supplier;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.PolicyUse;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call of a limited method.
 */
record LimitedCall(LimitedMethod method, MethodInvocation invocation, PolicyEnforcer enforcer) {

	/**
	 * Decides.
	 * @throws RateLimitExceededException if the call is denied and there is no fallback
	 */
	Decided decide() {
		return answered(this.enforcer.enforce(uses()));
	}

	/**
	 * Finds the caller on the current thread. The result may be used on any thread, and
	 * decides each time as {@link #decide()} does.
	 */
	Supplier<Decided> prepare() {
		Supplier<Decided> decided = this.enforcer.prepare(uses());
		return () -> answered(decided.get());
	}

	private List<PolicyUse> uses() {
		return this.method.uses(this.invocation.getArguments());
	}

	private Decided answered(Decided decided) {
		if (!decided.allowed() && this.method.fallback() == null) {
			throw new RateLimitExceededException(decided.decision());
		}
		return decided;
	}

	/**
	 * Calls the method, or its fallback. The caller ends what was decided.
	 * @param again whether it may be called again, and by other threads
	 */
	@Nullable Object answer(Decided decided, boolean again) throws Throwable {
		Fallback fallback = this.method.fallback();
		if (!decided.allowed() && fallback != null) {
			return fallback.call(this.invocation.getThis(), this.invocation.getArguments(),
					new RateLimitExceededException(decided.decision()));
		}
		// The advice that follows, like that of AspectJ, may ask for the invocation of
		// its thread.
		return again ? ExposeInvocationInterceptor.INSTANCE
			.invoke(((ProxyMethodInvocation) this.invocation).invocableClone()) : this.invocation.proceed();
	}

}
