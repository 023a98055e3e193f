package io.github.ratelimit.spring.method;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
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
		return answer((atEnd) -> this.enforcer.enforce(uses(), atEnd), this.invocation::proceed);
	}

	/**
	 * Finds the caller on the current thread. The result may be used on any thread, and
	 * decides each time as {@link #decide()} does.
	 */
	Supplier<Answer> prepare() {
		Function<Consumer<Runnable>, Decision> decision = this.enforcer.prepare(uses());
		return () -> answer(decision, this::proceedAgain);
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

	private Answer answer(Function<Consumer<Runnable>, Decision> decide, Method allowed) {
		List<Runnable> atEnd = new ArrayList<>(0);
		Decision decision = decide.apply(atEnd::add);
		if (decision.allowed()) {
			return new Answer(allowed, atEnd);
		}
		RateLimitExceededException denied = new RateLimitExceededException(decision);
		Fallback fallback = this.operation.fallback();
		if (fallback == null) {
			throw denied;
		}
		return new Answer(() -> fallback.call(this.target, this.invocation.getArguments(), denied), atEnd);
	}

	/** The method or its fallback. */
	@FunctionalInterface
	private interface Method {

		@Nullable Object call() throws Throwable;

	}

	/**
	 * What answers a call.
	 *
	 * @param method the method or its fallback
	 * @param atEnd what must run when the call has ended; usually empty
	 */
	record Answer(Method method, List<Runnable> atEnd) {

		/** Calls the method. The caller notes its {@link #end()}. */
		@Nullable Object get() throws Throwable {
			return this.method.call();
		}

		/**
		 * Notes that the call has ended. Has no effect the second time. What runs then
		 * may wait for the store, so no lock is held, which would pin a virtual thread.
		 */
		void end() {
			List<Runnable> ended;
			synchronized (this.atEnd) {
				ended = List.copyOf(this.atEnd);
				this.atEnd.clear();
			}
			ended.forEach(Runnable::run);
		}

	}

}
