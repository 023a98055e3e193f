package io.github.ratelimit.spring.method;

import java.util.stream.Collectors;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Annotations that cannot be enforced stop the start.
 */
class RateLimitedRefusalTests {

	private static final String NAME = RateLimitedRefusalTests.class.getName();

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.web.limits=5/s",
				"ratelimit.policies.web.identifiers=user", "ratelimit.policies.web.penalty.after=9",
				"ratelimit.policies.web.penalty.within=1m", "ratelimit.policies.web.penalty.block=1h");

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					unknownPolicy     | there is no policy 'nothing' below ratelimit.policies, only [api, web].
					wrongLimit        | Invalid limit (ten/s): must be quota/window, such as 10/s, 100/15m or 10/500ms; the units are ms, s, m, h and d.
					nothing           | it must name a policy or have limits.
					both              | Invalid limits [1/s, 2/m]: the policy 'api' is from the configuration; remove the limits, or the policy.
					renamed           | Invalid name (foo): the policy 'api' is from the configuration; remove the name, or the policy.
					otherAlgorithm    | Invalid algorithm (fixed-window): the policy 'api' is from the configuration; remove the algorithm, or the policy.
					tooExpensive      | Invalid cost (11): the limit 10/s would never allow it.
					negative          | Invalid cost (-1): must not be negative.
					twoCosts          | Invalid cost (2): cannot be combined with a costExpression.
					unknownIdentifier | Invalid identifier (ip): must be global or user outside of web requests.
					penaltyOfAll      | Invalid identifier (global): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user.
					twice             | Invalid identifiers [global, global]: there must be at least one, and no duplicates.
					""")
	void annotationIsRefused(String method, String reason) {
		assertRefused(method, reason);
	}

	@Test
	void annotationIsRefusedWhenAlgorithmIsUnknown() {
		assertRefused("unknownAlgorithm", "Invalid algorithm (guess): must be one of "
				+ Algorithms.all().stream().map(Algorithm::name).collect(Collectors.joining(", ")) + ".");
	}

	private void assertRefused(String method, String reason) {
		String place = "public void " + Wrong.class.getName() + "." + method + "()";
		this.runner.run((context) -> {
			RateLimitedOperations operations = context.getBean(RateLimitedAdvisor.class).operations();
			assertThatExceptionOfType(InvalidRateLimitedException.class)
				.isThrownBy(() -> operations.find(Wrong.class.getMethod(method), Wrong.class))
				.withMessage("Invalid @RateLimited on %s: %s", place, reason)
				.satisfies((ex) -> assertThat(ex).hasFieldOrPropertyWithValue("place", place));
		});
	}

	@Test
	void startFailsWhenAnnotationIsWrong() {
		this.runner.withBean(Wrong.class)
			.run((context) -> assertThat(StartFailure.cause(context, InvalidRateLimitedException.class))
				.hasMessageStartingWith("Invalid @RateLimited on public void " + Wrong.class.getName()));
	}

	@Test
	void startFailsWhenOverloadsWouldShareName() {
		this.runner.withBean(Overloads.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IllegalArgumentException.class)
				.message()
				.startsWith("its policy would be named 'Overloads.call', a name that public void " + NAME
						+ "$Overloads.call(")
				.endsWith(" already uses; give one of them another name.");
		});
	}

	@Test
	void startFailsWhenClassesOfOneNameWouldSharePolicy() {
		this.runner.withBean("one", One.Same.class)
			.withBean("other", Other.Same.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessage("its policy would be named 'Same.call', a name that public void " + NAME
						+ "$One$Same.call() already uses; give one of them another name."));
	}

	@Test
	void startFailsWhenConfiguredPolicyHasNameOfMethod() {
		this.runner.withBean(One.Same.class)
			.withPropertyValues("ratelimit.policies[Same.call].limits=1/s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage(
						"its policy would be named 'Same.call', a name that ratelimit.policies already uses; give one of them another name."));
	}

	@Test
	void startFailsWhenOnlyLaterMethodOfInterfaceIsWrong() {
		this.runner.withBean(Service.class, ServiceImplementation::new)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("there is no policy 'nothing' below ratelimit.policies, only [api, web]."));
	}

	@Test
	void startFailsWhenClassesOfOneNameInheritMethod() {
		this.runner.withBean("one", One.Heir.class)
			.withBean("other", Other.Heir.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("its policy would be named 'Heir.call', a name that public void " + NAME
						+ "$Base.call() in " + NAME + "$One$Heir already uses; give one of them another name."));
	}

	static class Wrong {

		@RateLimited("nothing")
		public void unknownPolicy() {
		}

		@RateLimited(limits = { "1/s", "ten/s" })
		public void wrongLimit() {
		}

		@RateLimited(limits = "1/s", algorithm = "guess")
		public void unknownAlgorithm() {
		}

		@RateLimited
		public void nothing() {
		}

		@RateLimited(policy = "api", limits = { "1/s", "2/m" }, name = "both")
		public void both() {
		}

		@RateLimited(policy = "api", name = "foo")
		public void renamed() {
		}

		@RateLimited(policy = "api", algorithm = "fixed-window")
		public void otherAlgorithm() {
		}

		@RateLimited(policy = "api", cost = 11)
		public void tooExpensive() {
		}

		@RateLimited(policy = "api", cost = -1)
		public void negative() {
		}

		@RateLimited(policy = "api", cost = 2, costExpression = "7")
		public void twoCosts() {
		}

		@RateLimited(policy = "api", identifiers = "ip")
		public void unknownIdentifier() {
		}

		@RateLimited(policy = "web", identifiers = { "user", "global" })
		public void penaltyOfAll() {
		}

		@RateLimited(policy = "api", identifiers = { "global", "global" })
		public void twice() {
		}

	}

	static class Overloads {

		@RateLimited(limits = "1/s")
		public void call(int number) {
		}

		@RateLimited(limits = "1/s")
		public void call(String text) {
		}

	}

	static class Base {

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

	static class One {

		static class Heir extends Base {

		}

		static class Same {

			@RateLimited(limits = "1/s")
			public void call() {
			}

		}

	}

	static class Other {

		static class Heir extends Base {

		}

		static class Same {

			@RateLimited(limits = "1/s")
			public void call() {
			}

		}

	}

	interface Service {

		@RateLimited("api")
		void first();

		void second();

	}

	static class ServiceImplementation implements Service {

		@Override
		public void first() {
		}

		@Override
		@RateLimited("nothing")
		public void second() {
		}

	}

}
