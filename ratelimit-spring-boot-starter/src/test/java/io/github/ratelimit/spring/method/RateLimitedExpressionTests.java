package io.github.ratelimit.spring.method;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Costs and identifiers that depend on the arguments of calls, and placeholders.
 */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitedExpressionTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=10/m");

	@Test
	void costIsWhatExpressionYieldsRoundedUp() {
		run(this.runner, Costs.class, (bean) -> {
			for (Number huge : List.of(Long.MAX_VALUE, 1e300, new BigDecimal("1E+999999999"))) {
				assertDenied(() -> bean.cost(huge), "Rate limit exceeded: Costs.cost (10/m)");
			}
			bean.cost(0.0);
			bean.cost(2.1);
			bean.cost(new BigDecimal("2.0000000000000000000000000000000001"));
			bean.cost(new BigDecimal("1E-999999999"));
			bean.cost(3L);
			assertDenied(() -> bean.cost((byte) 1), "Rate limit exceeded: Costs.cost (10/m)");
			assertDenied(() -> bean.cost(new BigDecimal("0.1")), "Rate limit exceeded: Costs.cost (10/m)");
		});
	}

	@Test
	void callWithInvalidCostIsRefusedAndNotCounted() {
		run(this.runner, Costs.class, (bean) -> {
			assertInvalid(() -> bean.cost(null), "#value", "a cost must be a number, not null.");
			assertInvalid(() -> bean.cost(-1), "#value", "a cost must be 0 or more, not -1.");
			assertInvalid(() -> bean.cost(-0.5), "#value", "a cost must be 0 or more, not -0.5.");
			assertInvalid(() -> bean.cost(Double.NaN), "#value", "a cost must be a finite number, not NaN.");
			assertInvalid(() -> bean.cost(Float.POSITIVE_INFINITY), "#value",
					"a cost must be a finite number, not Infinity.");
			assertInvalid(() -> bean.cost("7"), "#value", "a cost must be a number, not a java.lang.String.");
			assertThat(bean.calls).isZero();
			bean.cost(10);
		});
	}

	@Test
	void callIsRefusedAndLoggedOnceWhenExpressionFails(CapturedOutput output) {
		run(this.runner, Identified.class, (bean) -> {
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(RateLimitedExpressionException.class).isThrownBy(() -> bean.far("secret"))
					.withMessage(
							"Invalid value of '#text.charAt(99)' in @RateLimited on public void %s.far(java.lang.String): it failed.",
							Identified.class.getName())
					.satisfies((ex) -> assertThat(ex.getPlace()).contains("Identified.far(").startsWith("public void"))
					.havingCause();
			}
			assertThat(output)
				.containsOnlyOnce("Calls of public void " + Identified.class.getName()
						+ ".far(java.lang.String) are refused when its costExpression (#text.charAt(99))")
				.doesNotContain("secret");
		});
	}

	@Test
	void everyValueHasItsOwnCountAndIsNoExpression() {
		run(this.runner, Identified.class, (bean) -> {
			for (Object id : List.of("a", 7, 'c', UUID.randomUUID(), List.of(1), Map.of("k", "v"), "#{1}", "${x}",
					"T(java.lang.Runtime)", "#a0", "'")) {
				bean.id(id);
				assertDenied(() -> bean.id(id), "Rate limit exceeded: Identified.id (1/m)");
			}
		});
	}

	@Test
	void missingValuesAreDeniedAndJoinedOnesDoNotMeet() {
		run(this.runner, Identified.class, (bean) -> {
			for (String missing : Arrays.asList(null, "", " \t")) {
				assertThatExceptionOfType(CallerDeniedException.class).isThrownBy(() -> bean.id(missing))
					.withMessageContaining("has none of the identifiers [#a0] that the policy Identified.id counts by");
			}
			bean.id("a");
			bean.pair("a+b", "c");
			bean.pair("a", "b+c");
			assertDenied(() -> bean.pair("a", "b+c"), "Rate limit exceeded: Identified.pair (1/m)");
		});
	}

	/** No client can cause this, so that it must not be answered with 400. */
	@Test
	void callFailsWhenValueHasNoTextOfItsOwn() {
		run(this.runner, Identified.class, (bean) -> {
			assertNoText(() -> bean.id(new Object()), "java.lang.Object");
			assertNoText(() -> bean.id(new int[0]), "int[]");
		});
	}

	private static void assertNoText(Runnable call, String type) {
		assertThatIllegalStateException().isThrownBy(call::run)
			.withMessageStartingWith("Invalid value of '#a0' in @RateLimited on public void ")
			.withMessageEndingWith(": an identifier must have a text, but %s does not override toString.", type);
	}

	@Test
	void placeholdersAreReplacedInAllTexts() {
		this.runner.withBean(Placeholders.class)
			.withPropertyValues("x.policy=api", "x.limits=3/s, 2/m", "x.algorithm=fixed-window", "x.cost=#a0 * 2",
					"x.ids=global,#a0", "x.name=own", "x.fallback=instead")
			.run((context) -> {
				Placeholders bean = context.getBean(Placeholders.class);
				assertThat(bean.named(5)).isEqualTo("called");
				assertDenied(() -> bean.named(1), "Rate limit exceeded: api (10/m)");
				assertThat(bean.inPlace(1)).isEqualTo("called");
				assertThat(bean.inPlace(2)).isEqualTo("called");
				assertThat(bean.inPlace(3)).isEqualTo("instead: Rate limit exceeded: own (2/m)");
			});
	}

	@Test
	void startFailsWhenPlaceholderIsUnknown() {
		this.runner.withBean(Placeholders.class)
			.withPropertyValues("x.policy=api")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.startsWith("Could not resolve placeholder 'x."));
	}

	private static void assertInvalid(Runnable call, String expression, String reason) {
		assertThatExceptionOfType(RateLimitedExpressionException.class).isThrownBy(call::run)
			.withMessageStartingWith("Invalid value of '%s' in @RateLimited on public void ".formatted(expression))
			.withMessageEndingWith(": " + reason);
	}

	static class Costs {

		int calls;

		@RateLimited(limits = "10/m", costExpression = "#value")
		public void cost(@Nullable Object value) {
			this.calls++;
		}

	}

	static class Identified {

		@RateLimited(limits = "1/m", identifiers = "#a0")
		public void id(@Nullable Object id) {
		}

		@RateLimited(limits = "1/m", costExpression = "#text.charAt(99)")
		public void far(String text) {
		}

		@RateLimited(limits = "1/m", identifiers = "#first+#second")
		public void pair(String first, String second) {
		}

	}

	static class Placeholders {

		@RateLimited(policy = "${x.policy}", costExpression = "${x.cost}")
		public String named(int number) {
			return "called";
		}

		@RateLimited(limits = "${x.limits}", algorithm = "${x.algorithm}", identifiers = "${x.ids}", name = "${x.name}",
				fallbackMethod = "${x.fallback}")
		public String inPlace(int number) {
			return "called";
		}

		private String instead(int number, RateLimitExceededException ex) {
			return "instead: " + ex.getMessage();
		}

	}

}
