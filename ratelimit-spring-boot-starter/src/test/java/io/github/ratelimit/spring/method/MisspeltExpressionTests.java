package io.github.ratelimit.spring.method;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Names in expressions that no argument has: refused when the declared types say so.
 */
@ExtendWith(OutputCaptureExtension.class)
class MisspeltExpressionTests {

	private static final String NAME = MisspeltExpressionTests.class.getName();

	private final ApplicationContextRunner runner = StarterRunners.inMemory();

	private final MethodExpressions expressions = new MethodExpressions(Sample.class.getDeclaredMethods()[0],
			TypedSample.class, "here");

	@Test
	void startFailsWhenMethodIsMisspelt() {
		this.runner.withBean("exports", Misspelt.class)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("'exports'")
				.hasStackTraceContaining("Invalid @RateLimited on public void " + NAME
						+ "$Misspelt.export(java.lang.String): Invalid costExpression (#rows.lenght()): "
						+ "there is no method 'lenght' in java.lang.String, the nearest is 'length'."));
	}

	@Test
	void startFailsWhenPropertyOfLazyBeanIsMisspelt() {
		this.runner
			.withBean("users", MisspeltProperty.class, MisspeltProperty::new,
					(definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).getFailure()
					.hasStackTraceContaining("Invalid identifiers (#user.nmae): there is no property 'nmae' in " + NAME
							+ "$User, the nearest is 'name'.");
				assertThat(new InvalidRateLimitedFailureAnalyzer().analyze(context.getStartupFailure()))
					.satisfies((analysis) -> assertThat(analysis.getDescription()).contains("#user.nmae")
						.endsWith("Bean: users"));
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			'#text.lenght()' | method 'lenght' in java.lang.String, the nearest is 'length'
			'#text.lenght' | property 'lenght' in java.lang.String
			'#text.trim().foo()' | method 'foo' in java.lang.String
			'#rows.vlaue' | property 'vlaue' in java.lang.Integer
			'#array.lenght' | property 'lenght' in int[], the nearest is 'length'
			'#user.nmae' | property 'nmae' in io.github
			'#user.acive' | property 'acive' in io.github
			'#user.actiive' | property 'actiive' in io.github
			'#principal.naame' | property 'naame' in java.security.Principal
			'#user.firstname' | property 'firstname' in io.github
			'#user?.nmae' | property 'nmae' in io.github
			'#user.getNmae()' | method 'getNmae' in io.github
			'#order.customr' | property 'customr' in io.github
			'#order.customer.nmae' | property 'nmae' in io.github
			'#order.lines[0].pirce' | property 'pirce' in io.github
			'#orders[0].customr' | property 'customr' in io.github
			'#orders.get(0).customr' | property 'customr' in io.github
			'#list.szie()' | method 'szie' in java.util.List, the nearest is 'size'
			'#principal.nmae' | property 'nmae' in java.security.Principal
			'#typed.customr' | property 'customr' in io.github
			'#rows > 1 ? #user.nmae : 7' | property 'nmae' in io.github
			'#text.concat(#user.nmae)' | property 'nmae' in io.github
			'#list.![#user.nmae]' | property 'nmae' in io.github
			""")
	void misspeltNameIsRefusedWhenTypeIsKnown(String expression, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.expressions.parse("identifiers", expression))
			.withMessageStartingWith("Invalid identifiers (" + expression + "): there is no ")
			.withMessageContaining(reason);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#object.anything", "#object.anything()", "#map.anything", "#map['anything'].more",
			"#optional?.anything", "#principal.tenant", "#principal.names", "#user.tenant", "#user.nane", "#user.nme",
			"#user.isActive(1)", "#user.name", "#user.Name", "#user.firstName", "#user.active", "#user.isActive()",
			"#user.hidden", "#user.toString()", "#principal.hashCode()", "#order.customer.name",
			"#order.customer().name", "#order.lines[0].price", "#orders.![customr]", "#orders.?[customr == 1]",
			"#text.bytes.length", "#text.empty", "#array.length", "#list.size", "#list.empty", "#list[0].anything",
			"#typed.customer", "#type.anything", "#rows.toString().length()", "#text[0]", "#user['nmae']",
			"#user.describe().anything", "{1, 2}.szie()" })
	void nameIsAcceptedWhenSomeArgumentMayHaveIt(String expression) {
		assertThat(this.expressions.parse("identifiers", expression)).hasToString(expression);
	}

	@Test
	void logNamesMethodOnceWhenExpressionFails(CapturedOutput output) {
		run(this.runner, Failing.class, (bean) -> {
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(RateLimitedExpressionException.class).isThrownBy(() -> bean.call("secret"));
			}
			assertThat(output)
				.containsOnlyOnce("Calls of public void " + NAME
						+ "$Failing.call(java.lang.String) are refused when its costExpression (#text.charAt(99))")
				.doesNotContain("secret");
		});
	}

	interface Sample<T> {

		void call(String text, int rows, int[] array, User user, Order order, List<Order> orders, List<?> list,
				Principal principal, Object object, Map<String, String> map, Optional<User> optional, T typed,
				List<? extends T> any, Class<?> type);

	}

	abstract static class TypedSample implements Sample<Order> {

	}

	public static class User {

		public String hidden = "";

		public String getName() {
			return "";
		}

		public String getFirstName() {
			return "";
		}

		public boolean isActive() {
			return true;
		}

		public Object describe() {
			return this;
		}

	}

	public record Order(User customer, List<Line> lines) {

	}

	public record Line(long price) {

	}

	static class Misspelt {

		@RateLimited(limits = "10/m", costExpression = "#rows.lenght()")
		public void export(String rows) {
		}

	}

	static class MisspeltProperty {

		@RateLimited(limits = "10/m", identifiers = "#user.nmae")
		public void call(User user) {
		}

	}

	static class Failing {

		@RateLimited(limits = "10/m", costExpression = "#text.charAt(99)")
		public void call(String text) {
		}

	}

}
