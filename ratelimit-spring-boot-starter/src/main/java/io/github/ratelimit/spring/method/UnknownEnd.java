package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * The results of methods whose work goes on after they have returned, and ends at a time
 * that is known only to others: most of them are for Spring MVC.
 */
final class UnknownEnd {

	private static final String ASYNC = "org.springframework.web.context.request.async.";

	private static final String MVC = "org.springframework.web.servlet.mvc.method.annotation.";

	/** By name, because Spring MVC is optional. */
	private static final Set<String> TYPES = Set.of(Callable.class.getName(), Future.class.getName(),
			ASYNC + "DeferredResult", ASYNC + "WebAsyncTask", MVC + "ResponseBodyEmitter",
			MVC + "StreamingResponseBody");

	private static final String ENTITY = "org.springframework.http.HttpEntity";

	private UnknownEnd() {
	}

	/**
	 * Refuses a method whose concurrent calls are limited.
	 * @param method the method
	 * @param result its result
	 * @throws IllegalArgumentException if nobody knows when such a call ends
	 */
	static void refuse(Method method, ResolvableType result) {
		boolean async = AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
		if (async && result.toClass() == void.class) {
			throw unknown("@Async void");
		}
		refuse(result);
	}

	private static void refuse(ResolvableType result) {
		Class<?> type = result.toClass();
		if (isOf(type, Set.of(ENTITY))) {
			refuseBody(result, result.as(type).getGeneric());
		}
		if (isOf(type, TYPES) && !CompletionStage.class.isAssignableFrom(type)) {
			throw unknown(type.getTypeName());
		}
	}

	/** Spring MVC completes a body of these types after the method has returned. */
	private static void refuseBody(ResolvableType entity, ResolvableType body) {
		Class<?> type = body.toClass();
		if (type == Object.class || isOf(type, TYPES) || CompletionStage.class.isAssignableFrom(type)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
			throw unknown(entity.toString());
		}
	}

	private static IllegalArgumentException unknown(String result) {
		return new IllegalArgumentException(
				"Invalid result (%s): it is not known when such a call ends, so that concurrent calls cannot be limited; limit its path instead, or return a CompletableFuture, Mono or Flux."
					.formatted(result));
	}

	private static boolean isOf(Class<?> type, Set<String> names) {
		return Stream
			.concat(Stream.<@Nullable Class<?>>iterate(type, (each) -> each != null, Class::getSuperclass),
					Stream.of(ClassUtils.getAllInterfacesForClass(type)))
			.anyMatch((each) -> names.contains(each.getName()));
	}

}
