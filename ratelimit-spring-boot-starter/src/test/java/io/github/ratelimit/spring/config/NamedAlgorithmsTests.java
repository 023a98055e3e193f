package io.github.ratelimit.spring.config;

import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
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

	/** Where algorithms need no scripts. */
	private WebApplicationContextRunner inMemory() {
		return this.runner.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()));
	}

	@ParameterizedTest
	@MethodSource("named")
	void algorithmIsFoundByItsName(String name, Algorithm algorithm) {
		this.properties.put("ratelimit.policies.api.algorithm", name);
		inMemory().run((context) -> assertThat(algorithm(context)).isEqualTo(algorithm));
	}

	static Stream<Arguments> named() {
		return Stream.of(Arguments.of("dailyAllowance", new DailyAllowance(6)),
				Arguments.of("fineWindow", new SlidingWindow(Duration.ofSeconds(1))),
				Arguments.of(DailyAllowance.class.getName(), new DailyAllowance()),
				Arguments.of(Own.class.getName(), new Own("own", "ow", "daily-allowance")),
				Arguments.of("token-bucket", new TokenBucket()), Arguments.of("gcra", new LeakyBucket()));
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

	/** {@code OWN} has a bean of a name, a code and a script. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					daily-allowance | | algorithm | must be one of ALL, or of the Algorithm beans dailyAllowance, fineWindow.
					com.example.Daily | | algorithm | must be one of ALL, or of the Algorithm beans dailyAllowance, fineWindow. There is no such class either.
					rateLimitRedisConnections | | algorithm | the bean of that name is not an Algorithm, but of type io.github.ratelimit.redis.RedisConnections.
					java.lang.String | | algorithm | the class does not implement Algorithm.
					io.github.ratelimit.Algorithm | | algorithm | the class must have a constructor without parameters that can be called (
					io.github.ratelimit.spring.config.NamedAlgorithmsTests$Failing | | algorithm | that can be called (out of order); or use a bean.
					OWN same-name ow nothing | | algorithm | Own): there is no script nothing.lua beside it.
					OWN sliding-window di log | | algorithm | its name (sliding-window) and code (di) must differ from those of io.github.ratelimit.algorithm.SlidingWindow.
					OWN same-code fw log | | algorithm | its name (same-code) and code (fw) must differ from those of io.github.ratelimit.algorithm.FixedWindow.
					OWN odd-code a-b log | | algorithm | its code (a-b) must be lower-case letters and digits.
					dailyAllowance | redis.scripting=false | algorithm | Invalid algorithm (daily-allowance): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.
					dailyAllowance | policies.api.precision=1s | precision | Is an option of sliding-window, but the algorithm of this policy is dailyAllowance: change the algorithm, or remove the option.
					fineWindow | policies.api.precision=2s | precision | Is an option of sliding-window, but the algorithm of this policy is fineWindow: change the algorithm, or remove the option.
					fineWindow | policies.api.burst=2 | burst | Is an option of token-bucket, but the algorithm of this policy is fineWindow: change the algorithm, or remove the option.
					dailyAllowance | policies.api.limits=10/m | limits | Invalid limits [10/m]: daily-allowance has one limit, such as 100/d.
					""")
	void algorithmThatCannotBeUsedStopsTheStart(String name, @Nullable String option, String property, String rule) {
		String[] own = name.split(" ");
		String algorithm = (own.length > 1) ? "mine" : name;
		this.properties.put("ratelimit.policies.api.algorithm", algorithm);
		if (option != null) {
			String[] parts = option.split("=");
			this.properties.put("ratelimit." + parts[0], parts[1]);
		}
		WebApplicationContextRunner beans = (own.length == 1) ? this.runner
				: this.runner.withBean("mine", Algorithm.class, () -> new Own(own[1], own[2], own[3]));
		beans.run((context) -> {
			InvalidConfigurationPropertyValueException refusal = StartFailure.refusal(context);
			assertThat(refusal.getName()).isEqualTo("ratelimit.policies.api." + property);
			assertThat(refusal.getReason()).contains(rule.replace("ALL", BUILT_IN));
			if (property.equals("algorithm")) {
				assertThat(refusal.getValue()).isEqualTo(algorithm);
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "sliding-window", "slidingWindow", "gcra" })
	void beanNamedLikeAnAlgorithmOfTheLibraryIsRefused(String name) {
		this.runner.withBean(name, Algorithm.class, DailyAllowance::new).run((context) -> {
			InvalidBeanException failure = StartFailure.cause(context, InvalidBeanException.class);
			assertThat(failure).hasMessageStartingWith(
					"Invalid bean '%s' of type Algorithm: the library has an algorithm of that name (".formatted(name));
			assertThat(failure.getAction()).isEqualTo("Give the bean '%s' another name.".formatted(name));
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
			assertThat(output).contains("The policy 'api' has changed: [algorithm is dailyAllowance, was not set]")
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

	private record Own(String name, String code, String script) implements Algorithm {

		Own() {
			this("own", "ow", "daily-allowance");
		}

		@Override
		public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
			return new DailyAllowance().meter(limits, state, nowMicros);
		}

	}

	record Failing(String name, String code) implements Algorithm {

		Failing() {
			this("failing", "fa");
			throw new IllegalStateException("out of order");
		}

		@Override
		public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
			throw new UnsupportedOperationException();
		}

	}

}
