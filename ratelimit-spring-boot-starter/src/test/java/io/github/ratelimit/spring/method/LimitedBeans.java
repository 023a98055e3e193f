package io.github.ratelimit.spring.method;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.PolicyUse;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowingConsumer;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Beans with limited methods, and their calls. */
final class LimitedBeans {

	private LimitedBeans() {
	}

	/** Runs an application with a bean. */
	static <T> void run(ApplicationContextRunner runner, Class<T> type, ThrowingConsumer<T> test) {
		runner.withBean(type).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context.getBean(type));
		});
	}

	/** Asserts that a method may be called once. */
	static void assertLimited(Runnable call) {
		call.run();
		assertDenied(call::run);
	}

	static void assertDenied(ThrowingCallable call) {
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(call);
	}

	static void assertDenied(ThrowingCallable call, String message) {
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(call).withMessage(message);
	}

	/** Decides over all calls alike. */
	record Enforcer(Supplier<Decided> decision) implements PolicyEnforcer {

		@Override
		public Supplier<Decided> prepare(List<PolicyUse> uses) {
			return this.decision;
		}

		@Override
		public Optional<PolicyCharge> charge(PolicyUse use) {
			return Optional.empty();
		}

		@Override
		public void requireKnown(String identifier) {
		}

	}

}
