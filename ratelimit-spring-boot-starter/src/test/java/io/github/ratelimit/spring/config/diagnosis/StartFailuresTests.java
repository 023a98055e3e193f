package io.github.ratelimit.spring.config.diagnosis;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Settings that cannot be enforced stop the start, with the name of the property, its
 * value and the rule.
 */
class StartFailuresTests {

	/** Begins a rule of which only a part is written. */
	private static final String PART = "...";

	private static final String NO_WEB = "NO-WEB;";

	private final WebApplicationContextRunner runner = StarterRunners.web();

	/**
	 * Each line has settings, the property that is refused, its value, and the rule.
	 * Names are below {@code ratelimit}, those of {@code api} below that policy. What is
	 * said of a {@code SERVER} holds for that of the library, and for that of Spring.
	 * {@code NO-WEB} is an application without requests. Any value is an asterisk.
	 */
	@ParameterizedTest
	@CsvFileSource(resources = "start-failures.csv", delimiter = '|', quoteCharacter = '`')
	void startFailsWithPropertyAndValueAndRule(String settings, String property, @Nullable String value, String rule) {
		for (String server : settings.contains("SERVER.") ? List.of("redis.", "spring.data.redis.") : List.of("")) {
			assertRefused(settings.startsWith(NO_WEB) ? StarterRunners.nonWeb() : this.runner,
					settings.replace(NO_WEB, "defaults.identifiers=global;api.limits=9/m;").replace("SERVER.", server),
					property.replace("SERVER.", server), value, rule);
		}
	}

	@Test
	void startFailsWhenLimitsExceedOneCall() {
		String limits = IntStream.rangeClosed(1, 20).mapToObj((i) -> "9/" + i + "m").collect(Collectors.joining(","));
		List<String> thirteen = IntStream.rangeClosed(1, 13).mapToObj((i) -> "header:X-" + i).toList();
		String identifiers = ";api.identifiers=" + String.join(",", thirteen);
		String rule = "20 limits%s for each of 13 identifiers are %d; there must be at most 256.";
		assertRefused(this.runner, "api.limits=" + limits + identifiers, "api.identifiers", thirteen.toString(),
				"Invalid policy (api): " + rule.formatted("", 260));
		assertRefused(this.runner, "api.limits=" + limits + ";api.concurrent=5" + identifiers, "api.identifiers",
				thirteen.toString(), "Invalid policy (api): " + rule.formatted(" and concurrent requests", 273));
		assertRefused(this.runner, "plan='a';api.limits=1/m;api.plans.pro.limits=" + limits + identifiers,
				"api.identifiers", thirteen.toString(),
				"Invalid policy (api) of the plan 'pro': " + rule.formatted("", 260));
		with(this.runner, "api.limits=" + limits + ";api.concurrent=5" + identifiers.replace(",header:X-13", ""))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://user:se%cret@example.com:6379", "http://user:se/cret@example.com:6379",
			"redis://user:se@cret@:6379", "redis://user:se#cret@example.com:6379", "redis://user:se cret@example.com:1",
			"redis:user:secret@example.com:1", "redis://pa#secret@example.com" })
	void messageDoesNotHoldPasswordWhenUrlIsWrong(String url) {
		with(this.runner, "redis.url=" + url).run((context) -> {
			assertThat(String.valueOf(StartFailure.refusal(context).getValue())).contains("***");
			assertThat(context).getFailure().satisfies((failure) -> {
				StringWriter trace = new StringWriter();
				failure.printStackTrace(new PrintWriter(trace));
				assertThat(trace.toString()).doesNotContain("cret", "user:se");
			});
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis.", "spring.data.redis." })
	void startFailsWhenBundleIsNotAmongThoseOfSpring(String server) {
		assertRefused(this.runner.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class)),
				server + "host=a;" + server + "ssl.bundle=mine", server + "ssl.bundle", "mine",
				"Must be the name of an SSL bundle below spring.ssl.bundle.");
	}

	@Test
	void startFailsWhenThereAreSeveralPlanResolvers() {
		WebApplicationContextRunner bean = this.runner.withBean("one", PlanResolver.class,
				() -> (user, request) -> "pro");
		bean.withBean("other", PlanResolver.class, () -> (user, request) -> "pro")
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("expected single matching bean"));
		assertRefused(bean, "plan='a';api.limits=9/m;api.plans.pro.limits=4/m", "plan", "'a'",
				PART + "There is a PlanResolver bean as well (");
	}

	@Test
	void clusterOfSpringDoesNotMatterWhenServerIsNamed() {
		with(this.runner, "spring.data.redis.cluster.nodes=a:1;redis.url=redis://localhost:1")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void penaltyOfABeanIsShownWithoutSettingsOfIt() {
		Penalty penalty = new Penalty(3, Duration.ofMinutes(1), Duration.ofMinutes(2), Duration.ofMinutes(2), false);
		Policy policy = Policy.of("api", new SlidingWindow(), Limit.parse("10/s")).withPenalty(penalty);
		List<String> identifiers = List.of("ip");
		ConfiguredPolicies policies = new ConfiguredPolicies(
				Map.of("api", new IdentifiedPolicy(policy, identifiers, Enforcement.DEFAULT)),
				new ConfiguredPolicies.Defaults(identifiers, policy.algorithm(), false, Enforcement.DEFAULT));
		assertRefused(this.runner.withBean(ConfiguredPolicies.class, () -> policies),
				"redis.scripting=false;api.limits=10/s", "api.penalty", penalty.toString(),
				"Invalid policy (api): the store does not support penalties.");
	}

	private static void assertRefused(AbstractApplicationContextRunner<?, ?, ?> runner, String settings,
			String property, @Nullable String value, String rule) {
		with(runner, settings).run((context) -> {
			InvalidConfigurationPropertyValueException refusal = StartFailure.refusal(context);
			assertThat(refusal.getName()).isEqualTo(name(property));
			if (rule.startsWith(PART)) {
				assertThat(refusal.getReason()).contains(rule.substring(PART.length()));
			}
			else {
				assertThat(refusal.getReason()).isEqualTo(rule);
			}
			if (!"*".equals(value)) {
				assertThat(Objects.toString(refusal.getValue(), null)).isEqualTo(value);
			}
		});
	}

	private static <S extends AbstractApplicationContextRunner<S, ?, ?>> S with(
			AbstractApplicationContextRunner<S, ?, ?> runner, String settings) {
		return settings.startsWith("{")
				? runner.withInitializer((context) -> StarterRunners.yaml("file", "ratelimit: " + settings)
					.forEach(context.getEnvironment().getPropertySources()::addLast))
				: runner.withPropertyValues(
						Arrays.stream(settings.split(";")).map(StartFailuresTests::name).toArray(String[]::new));
	}

	private static String name(String property) {
		return property.matches("(spring|server)\\..*") ? property
				: "ratelimit." + (property.startsWith("api.") ? "policies." : "") + property;
	}

}
