package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * How a limited method is decided, depending on its declared result: when, and how the
 * caller gets a refusal, which is a denial or any other exception of the limiter.
 */
@FunctionalInterface
interface ResultType {

	/**
	 * Calls the method or its fallback, or refuses the call.
	 */
	@Nullable Object limit(LimitedCall call) throws Throwable;

	/**
	 * Returns what fits the declared result of a method.
	 * @param method the method
	 * @param owner the class of the object
	 * @throws IllegalArgumentException if results of its type cannot carry a refusal
	 */
	static ResultType of(Method method, Class<?> owner) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			return ofSuspendFunction(method, owner);
		}
		Class<?> type = declared(method, owner);
		if (type == CompletableFuture.class || type == CompletionStage.class) {
			return ResultType::limitFuture;
		}
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		if (adapter != null) {
			requireDeclared(type, adapter.getReactiveType());
			requirePresent("reactor-core", "reactor.core.publisher.Mono", "result", type.getTypeName());
			return new PublisherResult(adapter);
		}
		if (type.getName().equals("kotlinx.coroutines.flow.Flow")) {
			requireCoroutines("result", type.getTypeName());
		}
		if (CompletionStage.class.isAssignableFrom(type)) {
			requireDeclared(type, CompletionStage.class);
		}
		return ResultType::limitNow;
	}

	/** Refuses a result of a subclass, which a limited one does not have. */
	static void requireDeclared(Class<?> type, Class<?> known) {
		if (type != known) {
			throw new IllegalArgumentException(
					"Invalid result (%s): must be declared as %s.".formatted(type.getTypeName(), known.getTypeName()));
		}
	}

	private static ResultType ofSuspendFunction(Method method, Class<?> owner) {
		requireCoroutines("suspend function", method.getName());
		requirePresent("kotlin-reflect", "kotlin.reflect.full.KClasses", "suspend function", method.getName());
		if (Proxy.isProxyClass(owner)) {
			Method function = ClassUtils.getInterfaceMethodIfPossible(method, owner);
			return ofSuspendFunction(function, function.getDeclaringClass());
		}
		if (!KotlinDetector.isKotlinType(method.getDeclaringClass())) {
			throw new IllegalArgumentException(
					"Invalid suspend function (%s): must be written in Kotlin.".formatted(method.getName()));
		}
		return PublisherResult.ofSuspendFunction(declared(method, owner));
	}

	/** Returns the result that the source declares, also of a suspend function. */
	private static Class<?> declared(Method method, Class<?> owner) {
		return ResolvableType.forMethodReturnType(method, owner).toClass();
	}

	private static void requireCoroutines(String subject, String name) {
		requirePresent("kotlinx-coroutines-reactor", "kotlinx.coroutines.reactor.MonoKt", subject, name);
	}

	private static void requirePresent(String library, String type, String subject, String name) {
		if (!ClassUtils.isPresent(type, ResultType.class.getClassLoader())) {
			throw new IllegalArgumentException(
					"Invalid %s (%s): needs %s on the class path.".formatted(subject, name, library));
		}
	}

	private static @Nullable Object limitFuture(LimitedCall call) throws Throwable {
		LimitedCall.Answer answer;
		try {
			answer = call.decide();
		}
		catch (RuntimeException refusal) {
			return CompletableFuture.failedFuture(refusal);
		}
		return futureOf(answer);
	}

	/** A call that returns no future has ended. */
	private static @Nullable Object futureOf(LimitedCall.Answer answer) throws Throwable {
		boolean running = false;
		try {
			Object result = answer.get();
			if (result instanceof CompletionStage<?> stage) {
				running = true;
				stage.whenComplete((value, failure) -> answer.end());
			}
			return result;
		}
		finally {
			if (!running) {
				answer.end();
			}
		}
	}

	private static @Nullable Object limitNow(LimitedCall call) throws Throwable {
		LimitedCall.Answer answer = call.decide();
		try {
			return answer.get();
		}
		finally {
			answer.end();
		}
	}

}
