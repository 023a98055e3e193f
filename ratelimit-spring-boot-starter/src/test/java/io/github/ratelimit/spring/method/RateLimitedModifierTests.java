package io.github.ratelimit.spring.method;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotations of methods whose calls cannot be intercepted stop the start.
 */
class RateLimitedModifierTests {

	private static final String NAME = RateLimitedModifierTests.class.getName();

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.web.limits=5/s");

	@Test
	void startFailsWhenMethodIsPrivate() {
		assertRefused(Private.class, "private void " + NAME + "$Private.call()", "non-private");
	}

	@Test
	void startFailsWhenMethodIsStatic() {
		assertRefused(Static.class, "public static void " + NAME + "$Static.call()", "non-static");
	}

	@Test
	void startFailsWhenMethodIsFinal() {
		assertRefused(Final.class, "public final void " + NAME + "$Final.call()", "non-final");
	}

	@Test
	void startFailsWhenMethodOfAnnotatedTypeIsFinal() {
		assertRefused(FinalInType.class, "final void " + NAME + "$FinalInType.call()", "non-final");
	}

	private void assertRefused(Class<?> type, String place, String modifier) {
		this.runner.withBean(type).run((context) -> {
			assertThat(context).hasFailed();
			Throwable failure = context.getStartupFailure();
			while (failure != null && !(failure instanceof InvalidRateLimitedException)) {
				failure = failure.getCause();
			}
			assertThat(failure).isInstanceOf(InvalidRateLimitedException.class)
				.hasMessage(
						"Invalid @RateLimited on %s: calls of private, static and final methods cannot be intercepted; "
								+ "make the method %s, or annotate a method that other beans call.",
						place, modifier)
				.hasFieldOrPropertyWithValue("place", place);
		});
	}

	@RateLimited("api")
	static class FinalInType {

		final void call() {
		}

	}

	static class Private {

		@RateLimited("api")
		private void call() {
		}

	}

	static class Static {

		@RateLimited("api")
		public static void call() {
		}

	}

	static class Final {

		@RateLimited("api")
		public final void call() {
		}

	}

}
