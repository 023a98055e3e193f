package io.github.ratelimit.spring.config;

import io.github.ratelimit.spring.decide.Decider;

import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.algorithm.DailyAllowance;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Algorithms of the application, which policies name by their bean or class.
 */
@ExtendWith(OutputCaptureExtension.class)
class NamedAlgorithmsTests {

	private static final String NESTED = NamedAlgorithmsTests.class.getName() + "$";

	private static final String BUILT_IN = Algorithms.all()
		.stream()
		.map(Algorithm::name)
		.collect(Collectors.joining(", "));

	private final Map<String, Object> properties = new HashMap<>(
			Map.of("ratelimit.policies.api.limits", "10/d", "ratelimit.policies.api.paths", "/api/**"));

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("changing", this.properties)))
		.withBean("dailyAllowance", Algorithm.class, () -> new DailyAllowance(6))
		.withBean("fineWindow", Algorithm.class, () -> new SlidingWindow(Duration.ofSeconds(1)));

	@Test
	void beanIsFoundByItsName() {
		assertAlgorithm("dailyAllowance", new DailyAllowance(6));
		assertAlgorithm("fineWindow", new SlidingWindow(Duration.ofSeconds(1)));
	}

	@Test
	void classIsFoundByItsName() {
		assertAlgorithm(DailyAllowance.class.getName(), new DailyAllowance());
		assertAlgorithm(NESTED + "Hidden", new Hidden(3));
	}

	@Test
	void algorithmOfTheLibraryWins() {
		assertAlgorithm("token-bucket", new TokenBucket());
		assertAlgorithm("gcra", new LeakyBucket());
	}

	/** Where algorithms need no scripts. */
	private WebApplicationContextRunner inMemory() {
		return this.runner.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()));
	}

	private void assertAlgorithm(String name, Algorithm algorithm) {
		this.properties.put("ratelimit.policies.api.algorithm", name);
		inMemory().run((context) -> assertThat(algorithm(context)).isEqualTo(algorithm));
	}

	@Test
	void annotationNamesBeanOrClass() {
		this.runner.withBean(Annotated.class).run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(WronglyAnnotated.class)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessage(
						"Invalid algorithm (daily): must be one of %s, or of the Algorithm beans dailyAllowance, fineWindow."
							.formatted(BUILT_IN)));
	}

	@Nested
	class Refused {

		@ParameterizedTest
		@CsvSource({ "daily-allowance, ''", "com.example.Daily, ' There is no such class either.'" })
		void unknownName(String name, String more) {
			assertRefused(name, "must be one of %s, or of the Algorithm beans dailyAllowance, fineWindow.%s"
				.formatted(BUILT_IN, more));
		}

		@Test
		void beanOfAnotherType() {
			assertRefused("rateLimitRedisConnections",
					"the bean of that name is not an Algorithm, but of type io.github.ratelimit.redis.RedisConnections.");
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|',
				textBlock = """
						java.lang.String              | the class does not implement Algorithm.
						io.github.ratelimit.Algorithm | the class must have a constructor without parameters that can be called (
						""")
		void classThatIsNoAlgorithm(String name, String rule) {
			assertRefused(name, rule);
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|',
				textBlock = """
						WithoutDefault | the class must have a constructor without parameters that can be called (
						Failing        | that can be called (out of order); or use a bean.
						Scriptless     | Invalid algorithm (%s): there is no script scriptless.lua beside it.
						Disguised      | its name (sliding-window) and code (di) must differ from those of io.github.ratelimit.algorithm.SlidingWindow.
						SameCode       | its name (same-code) and code (fw) must differ from those of io.github.ratelimit.algorithm.FixedWindow.
						OddCode        | its code (a-b) must be lower-case letters and digits.
						""")
		void classThatCannotBeUsed(String name, String rule) {
			assertRefused(NESTED + name, rule.formatted(NESTED + name));
		}

		private void assertRefused(String name, String rule) {
			NamedAlgorithmsTests.this.assertRefused("algorithm", name, rule,
					"ratelimit.policies.api.algorithm=" + name);
		}

		@ParameterizedTest
		@CsvSource({ "dailyAllowance, precision=1s, precision, sliding-window",
				"fineWindow, precision=2s, precision, sliding-window", "fineWindow, burst=2, burst, token-bucket" })
		void optionOfTheLibrary(String name, String option, String property, String owner) {
			NamedAlgorithmsTests.this.assertRefused(property, null,
					"Is an option of %s, but the algorithm of this policy is %s: change the algorithm, or remove the option."
						.formatted(owner, name),
					"ratelimit.policies.api.algorithm=" + name, "ratelimit.policies.api." + option);
		}

		@Test
		void limitsThatItDoesNotSupport() {
			NamedAlgorithmsTests.this.assertRefused("limits", null,
					"Invalid limits [10/m]: daily-allowance has one limit, such as 100/d.",
					"ratelimit.policies.api.algorithm=dailyAllowance", "ratelimit.policies.api.limits=10/m");
		}

		@Test
		void algorithmWithoutScripting() {
			NamedAlgorithmsTests.this.assertRefused("algorithm", "dailyAllowance",
					"Invalid algorithm (daily-allowance): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.",
					"ratelimit.policies.api.algorithm=dailyAllowance", "ratelimit.redis.scripting=false");
		}

		@ParameterizedTest
		@ValueSource(strings = { "sliding-window", "slidingWindow", "gcra" })
		void beanWithTheNameOfAnAlgorithmOfTheLibrary(String name) {
			NamedAlgorithmsTests.this.runner.withBean(name, Algorithm.class, DailyAllowance::new).run((context) -> {
				InvalidBeanException failure = StartFailure.cause(context, InvalidBeanException.class);
				assertThat(failure).hasMessageStartingWith(
						"Invalid bean '%s' of type Algorithm: the library has an algorithm of that name ("
							.formatted(name));
				assertThat(failure.getAction()).isEqualTo("Give the bean '%s' another name.".formatted(name));
			});
		}

	}

	private void assertRefused(String property, @Nullable String value, String rule, String... properties) {
		for (String each : properties) {
			this.properties.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
		}
		this.runner.run((context) -> {
			InvalidConfigurationPropertyValueException refusal = StartFailure.refusal(context);
			assertThat(refusal.getName()).isEqualTo("ratelimit.policies.api." + property);
			assertThat(refusal.getReason()).contains(rule);
			if (value != null) {
				assertThat(refusal.getValue()).isEqualTo(value);
			}
		});
	}

	@Test
	void refreshedPolicyMayNameAnother(CapturedOutput output) {
		inMemory().run((context) -> {
			refresh(context, "dailyAllowance");
			assertThat(algorithm(context)).isEqualTo(new DailyAllowance(6));
			refresh(context, DailyAllowance.class.getName());
			assertThat(algorithm(context)).isEqualTo(new DailyAllowance());
			refresh(context, "nothing");
			assertThat(algorithm(context)).isEqualTo(new DailyAllowance());
			assertThat(output).contains("The policy 'api' has changed: [algorithm is dailyAllowance, was null]")
				.contains("Invalid value 'nothing' for configuration property 'ratelimit.policies.api.algorithm'");
		});
	}

	private void refresh(ConfigurableApplicationContext context, String algorithm) {
		this.properties.put("ratelimit.policies.api.algorithm", algorithm);
		context.publishEvent(new RefreshPoliciesEvent(context));
	}

	private static Algorithm algorithm(ConfigurableApplicationContext context) {
		return context.getBean(Decider.class)
			.current(context.getBean(ConfiguredPolicies.class).find("api").orElseThrow())
			.policy()
			.algorithm();
	}

	@Test
	void tableShowsOptions() {
		this.properties.put("ratelimit.policies.api.algorithm", "dailyAllowance");
		this.properties.put("ratelimit.policies.hidden.algorithm", NESTED + "Hidden");
		this.properties.put("ratelimit.policies.hidden.limits", "1/d");
		inMemory()
			.run((context) -> assertThat(context.getBean(PolicyTable.class).text()).contains("daily-allowance [hour=6]")
				.contains("hidden [days=3]"));
	}

	static class Annotated {

		@RateLimited(limits = "1/d", algorithm = "dailyAllowance")
		public void bean() {
		}

		@RateLimited(limits = "1/d", algorithm = "io.github.ratelimit.spring.algorithm.DailyAllowance")
		public void type() {
		}

	}

	static class WronglyAnnotated {

		@RateLimited(limits = "1/d", algorithm = "daily")
		public void call() {
		}

	}

	/** An algorithm that counts as another does. */
	private interface Borrowed extends Algorithm {

		@Override
		default String script() {
			return "daily-allowance";
		}

		@Override
		default Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
			return new DailyAllowance().meter(limits, state, nowMicros);
		}

	}

	private record Hidden(int days) implements Borrowed {

		Hidden() {
			this(3);
		}

		@Override
		public String name() {
			return "hidden";
		}

		@Override
		public String code() {
			return "hi";
		}

	}

	record WithoutDefault(String name, String code) implements Borrowed {

	}

	record Failing(String name, String code) implements Borrowed {

		Failing() {
			this("failing", "fa");
			throw new IllegalStateException("out of order");
		}

	}

	record Scriptless(String name, String code) implements Borrowed {

		Scriptless() {
			this("scriptless", "sc");
		}

		@Override
		public String script() {
			return "scriptless";
		}

	}

	record Disguised(String name, String code) implements Borrowed {

		Disguised() {
			this("sliding-window", "di");
		}

	}

	record SameCode(String name, String code) implements Borrowed {

		SameCode() {
			this("same-code", "fw");
		}

	}

	record OddCode(String name, String code) implements Borrowed {

		OddCode() {
			this("odd-code", "a-b");
		}

	}

}
