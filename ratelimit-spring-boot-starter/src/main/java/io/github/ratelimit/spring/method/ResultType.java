package io.github.ratelimit.spring.method;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
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
	 * Returns what fits a declared result.
	 * @throws IllegalArgumentException if results of this type cannot carry a refusal
	 */
	static ResultType of(Class<?> type) {
		if (type == CompletableFuture.class || type == CompletionStage.class) {
			return ResultType::limitFuture;
		}
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		Class<?> known = (adapter != null) ? adapter.getReactiveType() : CompletionStage.class;
		if (adapter != null && type == known) {
			requireReactor(type);
			return new PublisherResult(adapter);
		}
		if (known.isAssignableFrom(type)) {
			throw new IllegalArgumentException(
					"Invalid result (%s): must be declared as %s.".formatted(type.getTypeName(), known.getTypeName()));
		}
		return (call) -> call.decide().get();
	}

	private static void requireReactor(Class<?> type) {
		if (!ClassUtils.isPresent("reactor.core.publisher.Mono", ResultType.class.getClassLoader())) {
			throw new IllegalArgumentException(
					"Invalid result (%s): needs reactor-core on the class path.".formatted(type.getTypeName()));
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
		return answer.get();
	}

}
