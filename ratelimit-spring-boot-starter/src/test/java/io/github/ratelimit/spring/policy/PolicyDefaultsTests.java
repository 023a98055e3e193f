package io.github.ratelimit.spring.policy;

import java.time.InstantSource;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What policies are where they do not say otherwise.
 */
@ExtendWith(OutputCaptureExtension.class)
class PolicyDefaultsTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()))
		.withPropertyValues("ratelimit.defaults.identifiers=header:X-Key,user",
				"ratelimit.defaults.algorithm=fixed-window", "ratelimit.defaults.missing-identifier=skip",
				"ratelimit.defaults.count-denied=true", "ratelimit.defaults.mode=shadow",
				"ratelimit.defaults.on-store-failure=deny", "ratelimit.policies.api.limits=1/m");

	@Test
	void policyIsAsDefaultsSay() {
		this.runner.run((context) -> assertIsDefault(policy(context.getBean(ConfiguredPolicies.class), "api")));
	}

	@Test
	void policyThatIsWrittenInPlaceIsAsDefaultsSay() {
		this.runner.withBean(Limited.class)
			.run((context) -> assertThat(context.getBean(AnnotatedPolicies.class).byPlace().values())
				.flatExtracting((policies) -> policies)
				.anySatisfy((found) -> {
					assertThat(found.policy().name()).isEqualTo("Limited.inPlace");
					assertIsDefault(found);
				})
				.anySatisfy((found) -> {
					assertThat(found.policy().name()).isEqualTo("Limited.own");
					assertThat(found.policy().algorithm()).isEqualTo(new SlidingLog());
					assertThat(found.identifiers()).containsExactly("ip");
				}));
	}

	private static void assertIsDefault(IdentifiedPolicy policy) {
		assertThat(policy.identifiers()).containsExactly("header:X-Key", "user");
		assertThat(policy.policy())
			.isEqualTo(new Policy(policy.policy().name(), new FixedWindow(), policy.policy().limits(), true));
		assertThat(policy.enforcement().missing()).isEqualTo(MissingIdentifier.SKIP);
		assertThat(policy.enforcement().mode()).isEqualTo(Mode.SHADOW);
		assertThat(policy.enforcement().onStoreFailure()).isEqualTo(OnStoreFailure.DENY);
	}

	@Test
	void policyMaySayOtherwise() {
		this.runner
			.withPropertyValues("ratelimit.policies.api.identifiers=user",
					"ratelimit.policies.api.algorithm=sliding-log", "ratelimit.policies.api.missing-identifier=ip",
					"ratelimit.policies.api.count-denied=false", "ratelimit.policies.api.mode=enforce",
					"ratelimit.policies.api.on-store-failure=allow")
			.run((context) -> {
				IdentifiedPolicy policy = policy(context.getBean(ConfiguredPolicies.class), "api");
				assertThat(policy.identifiers()).containsExactly("user");
				assertThat(policy.policy()).isEqualTo(Policy.of("api", new SlidingLog(), Limit.parse("1/m")));
				assertThat(policy.enforcement().missing()).isEqualTo(MissingIdentifier.ADDRESS);
				assertThat(policy.enforcement().mode()).isEqualTo(Mode.ENFORCE);
				assertThat(policy.enforcement().onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
			});
	}

	@Test
	void missingIdentifierOfDefaultsMayBeInVain() {
		this.runner.withPropertyValues("ratelimit.policies.api.identifiers=ip")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					algorithm=guess             | ratelimit.defaults.algorithm          | Invalid algorithm (guess): must be one of
					identifiers=ip,ip           | ratelimit.defaults.identifiers        | There must be at least one identifier, such as ip, and no duplicates.
					missing-identifier=nobody   | ratelimit.defaults.missing-identifier | Must be skip, deny, or an identifier. Invalid identifier (nobody)
					""")
	void startFailsWhenDefaultIsWrong(String value, String property, String rule) {
		this.runner.withPropertyValues("ratelimit.defaults." + value)
			.run((context) -> StartFailure.assertRefused(context, property, rule));
	}

	@Test
	void startFailsWhenStoreCannotHoldDefaultAlgorithm() {
		StarterRunners.web()
			.withPropertyValues("ratelimit.redis.scripting=false", "ratelimit.defaults.algorithm=sliding-log",
					"ratelimit.policies.api.limits=1/m")
			.run((context) -> assertThat(StartFailure.refusal(context).getName())
				.isEqualTo("ratelimit.defaults.algorithm"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "precision=10s", "burst=5", "retain=3", "limits=1/m" })
	void optionOfOneAlgorithmIsNoDefault(String option, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start("ratelimit.defaults." + option));
		assertThat(output).contains("There is no property 'ratelimit.defaults.")
			.contains("use one of those below 'ratelimit.defaults': algorithm, count-denied, identifiers,"
					+ " missing-identifier, mode, on-store-failure");
	}

	@Test
	void oldNameOfIdentifiersStopsTheStart(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start("ratelimit.default-identifiers=global"));
		assertThat(output).contains("There is no property 'ratelimit.default-identifiers'")
			.contains("It has been renamed to 'ratelimit.defaults.identifiers'.");
	}

	@Test
	void oldNameInEnvironmentVariableStopsTheStart() {
		this.runner.withSystemProperties("ratelimit.default-identifiers=global")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.default-identifiers",
					"Has been renamed to ratelimit.defaults.identifiers."));
	}

	private static void start(String property) {
		StarterRunners.application(Application.class)
			.web(WebApplicationType.NONE)
			.run("--" + property, "--ratelimit.policies.api.limits=1/m");
	}

	private static IdentifiedPolicy policy(ConfiguredPolicies policies, String name) {
		return policies.find(name).orElseThrow();
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

	static class Limited {

		@RateLimited(limits = "1/s")
		public void inPlace() {
		}

		@RateLimited(limits = "1/s", algorithm = "sliding-log", identifiers = "ip")
		public void own() {
		}

	}

}
