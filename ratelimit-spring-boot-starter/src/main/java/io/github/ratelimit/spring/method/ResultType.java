package io.github.ratelimit.spring.method;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.Decided;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
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
	 * @param owner the class of the object
	 * @throws IllegalArgumentException if results of its type cannot carry a refusal
	 */
	static ResultType of(Method method, Class<?> owner) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			requireCoroutines("suspend function", method.getName());
			requirePresent("kotlin-reflect", "kotlin.reflect.full.KClasses", "suspend function", method.getName());
			if (Proxy.isProxyClass(owner)) {
				Method function = ClassUtils.getInterfaceMethodIfPossible(method, owner);
				return of(function, function.getDeclaringClass());
			}
			if (!KotlinDetector.isKotlinType(method.getDeclaringClass())) {
				throw new IllegalArgumentException(
						"Invalid suspend function (%s): must be written in Kotlin.".formatted(method.getName()));
			}
			return PublisherResult.ofSuspendFunction(declared(method, owner).toClass());
		}
		Class<?> type = declared(method, owner).toClass();
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		if (CompletionStage.class.isAssignableFrom(type)) {
			requireDeclared(type, (type == CompletableFuture.class) ? type : CompletionStage.class);
			return (call) -> limit(call, true);
		}
		if (adapter != null) {
			requireDeclared(type, adapter.getReactiveType());
			requirePresent("reactor-core", "reactor.core.publisher.Mono", "result", type.getTypeName());
			return new PublisherResult(adapter);
		}
		if (type.getName().equals("kotlinx.coroutines.flow.Flow")) {
			requireCoroutines("result", type.getTypeName());
		}
		return (call) -> limit(call, false);
	}

	/** Returns the result that the source declares, also of a suspend function. */
	private static ResolvableType declared(Method method, Class<?> owner) {
		return ResolvableType.forMethodReturnType(method, owner);
	}

	/** Refuses a result of a subclass, which a limited one does not have. */
	static void requireDeclared(Class<?> type, Class<?> known) {
		if (type != known) {
			throw new IllegalArgumentException(
					"Invalid result (%s): must be declared as %s.".formatted(type.getTypeName(), known.getTypeName()));
		}
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

	/**
	 * Limits a call that is decided at once.
	 * @param future whether it returns a future, which carries a refusal; a call that
	 * returns no future has ended
	 */
	private static @Nullable Object limit(LimitedCall call, boolean future) throws Throwable {
		Decided decided;
		try {
			decided = call.decide();
		}
		catch (RuntimeException refusal) {
			if (future) {
				return CompletableFuture.failedFuture(refusal);
			}
			throw refusal;
		}
		boolean running = false;
		decided.watch(Thread.currentThread()::isAlive);
		try {
			Object result = call.answer(decided, false);
			if (future && result instanceof CompletionStage<?> stage) {
				endWith(stage, decided);
				running = true;
			}
			return result;
		}
		finally {
			if (!running) {
				decided.end();
			}
		}
	}

	/**
	 * Ends a call with its stage. Only what will complete the stage refers to the flag:
	 * if nothing does, nobody will.
	 */
	private static void endWith(CompletionStage<?> stage, Decided decided) {
		AtomicBoolean running = new AtomicBoolean(true);
		WeakReference<AtomicBoolean> pending = new WeakReference<>(running);
		decided.watch(() -> {
			AtomicBoolean present = pending.get();
			return present != null && present.get();
		});
		stage.whenComplete((value, failure) -> {
			running.set(false);
			decided.end();
		});
	}

	/**
	 * Refuses a method whose concurrent calls are limited, but whose work goes on after
	 * it has returned, and ends at a time that is known only to others.
	 */
	static void requireKnownEnd(Method method, Class<?> owner) {
		ResolvableType result = declared(method, owner);
		Class<?> type = result.toClass();
		if (type == void.class && (AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class))) {
			throw unknownEnd("@Async void");
		}
		Class<?> body = isA(type, "org.springframework.http.HttpEntity") ? result.as(type).getGeneric().toClass()
				: null;
		if ((endsLater(type) && !CompletionStage.class.isAssignableFrom(type)) || (body != null && (body == Object.class
				|| endsLater(body) || ReactiveAdapterRegistry.getSharedInstance().getAdapter(body) != null))) {
			throw unknownEnd(result.toString());
		}
	}

	/** Returns whether Spring completes a result after the method has returned. */
	private static boolean endsLater(Class<?> type) {
		String async = "org.springframework.web.context.request.async.";
		String mvc = "org.springframework.web.servlet.mvc.method.annotation.";
		return Stream
			.of(Callable.class.getName(), Future.class.getName(), CompletionStage.class.getName(),
					async + "DeferredResult", async + "WebAsyncTask", mvc + "ResponseBodyEmitter",
					mvc + "StreamingResponseBody")
			.anyMatch((name) -> isA(type, name));
	}

	/** Takes the name of a type, which may be missing. */
	private static boolean isA(Class<?> type, String name) {
		ClassLoader loader = ResultType.class.getClassLoader();
		return ClassUtils.isPresent(name, loader) && ClassUtils.resolveClassName(name, loader).isAssignableFrom(type);
	}

	private static IllegalArgumentException unknownEnd(String result) {
		return new IllegalArgumentException(
				"Invalid result (%s): it is not known when such a call ends, so that concurrent calls cannot be limited; limit its path instead, or return a CompletableFuture, Mono or Flux."
					.formatted(result));
	}

}
