package io.github.ratelimit;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class DelegatingRateLimiterTests {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("1/s"));

	private static final Object REQUEST = RateLimitRequest.of(POLICY, Identifier.GLOBAL);

	private final List<Object> called = new ArrayList<>();

	static Stream<Method> methods() {
		return Stream.of(RateLimiter.class.getMethods()).filter((method) -> !Modifier.isStatic(method.getModifiers()));
	}

	/** The shorter forms of an acquisition lead to the long one. */
	@ParameterizedTest
	@MethodSource("methods")
	void everyMethodReachesTheDelegate(Method method) throws ReflectiveOperationException {
		Object result = (method.getReturnType() == Reservation.class)
				? new Reservation(Decision.withoutStore(), Instant.EPOCH) : Decision.withoutStore();
		RateLimiter delegate = (RateLimiter) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RateLimiter.class }, (proxy, called, arguments) -> {
					this.called.add(called.getName());
					this.called.addAll(List.of(arguments));
					return (called.getReturnType() != void.class) ? result : null;
				});
		Object[] arguments = Stream.of(method.getParameterTypes()).map(DelegatingRateLimiterTests::argument).toArray();
		Object returned = method.invoke(new DelegatingRateLimiter(delegate) {
		}, arguments);
		assertThat(this.called).startsWith(method.getName());
		if (method.getName().equals("tryAcquire")) {
			assertThat(this.called).hasSize(2).element(1).isInstanceOf(RateLimitRequest.class);
		}
		else {
			assertThat(this.called.subList(1, this.called.size())).containsExactly(arguments);
		}
		assertThat(returned).isSameAs((method.getReturnType() != void.class) ? result : null);
	}

	private static Object argument(Class<?> type) {
		return Stream.of(REQUEST, POLICY, Identifier.GLOBAL, Instant.EPOCH, List.of(), 2L)
			.filter((value) -> type.isInstance(value) || (type == long.class && value instanceof Long))
			.findFirst()
			.orElseThrow();
	}

}
