package io.github.ratelimit.spring.method;

import java.util.List;
import java.util.function.Supplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import io.github.ratelimit.spring.policy.PolicyUse;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call of a limited method that is not decided yet.
 *
 * @param operation the method
 * @param target the object that it is called on
 * @param invocation the call
 * @param enforcer decides
 */
record LimitedCall(RateLimitedOperation operation, Object target, MethodInvocation invocation,
		PolicyEnforcer enforcer) {

	/**
	 * Decides, and returns what answers the call: the method or its fallback.
	 * @throws RateLimitExceededException if the call is denied and there is no fallback
	 */
	Answer decide() {
		return answer(this.enforcer.enforce(uses()), this.invocation::proceed);
	}

	/**
	 * Finds the caller on the current thread. The result may be used on any thread, and
	 * decides each time as {@link #decide()} does.
	 */
	Supplier<Answer> prepare() {
		Supplier<Decision> decision = this.enforcer.prepare(uses());
		return () -> answer(decision.get(), this::proceedAgain);
	}

	private List<PolicyUse> uses() {
		return this.operation.uses(this.invocation.getArguments());
	}

	/**
	 * Calls the method, as often as needed. The advice that follows, like that of
	 * AspectJ, may ask for the invocation of its thread.
	 */
	private @Nullable Object proceedAgain() throws Throwable {
		return ExposeInvocationInterceptor.INSTANCE.invoke(((ProxyMethodInvocation) this.invocation).invocableClone());
	}

	private Answer answer(Decision decision, Answer allowed) {
		if (decision.allowed()) {
			return allowed;
		}
		RateLimitExceededException denied = new RateLimitExceededException(decision);
		Fallback fallback = this.operation.fallback();
		if (fallback == null) {
			throw denied;
		}
		return () -> fallback.call(this.target, this.invocation.getArguments(), denied);
	}

	/**
	 * Calls the method or its fallback.
	 */
	@FunctionalInterface
	interface Answer {

		@Nullable Object get() throws Throwable;

	}

}
