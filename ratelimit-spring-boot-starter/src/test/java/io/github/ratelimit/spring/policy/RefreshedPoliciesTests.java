package io.github.ratelimit.spring.policy;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Policies that are read again while the application runs.
 */
@ExtendWith(OutputCaptureExtension.class)
class RefreshedPoliciesTests {

	private final Map<String, Object> properties = new HashMap<>(Map.of("ratelimit.policies.api.limits", "10/m",
			"ratelimit.policies.api.paths", "/api/**", "ratelimit.policies.plans.limits", "10/m",
			"ratelimit.policies.plans.plans.pro.limits", "20/m", "ratelimit.plan", "'pro'", "ratelimit.redis.password",
			"secret", "ratelimit.redis.host", "nowhere"));

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("changing", this.properties)))
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()));

	@Test
	void changedPropertiesCountForTheNextRequest(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			this.properties.put("ratelimit.policies.api.limits", "5/s,7/m");
			this.properties.put("ratelimit.policies.plans.plans.pro.limits", "30/m");
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("5/s", "7/m");
			assertThat(limits(context, "plans", "pro")).containsExactly("30/m");
			assertThat(output).contains("The policy 'api' is now sliding-window [5/s, 7/m]")
				.contains("it was sliding-window [10/m]")
				.doesNotContain("need a restart");
			this.properties.put("ratelimit.policies.api.penalty.after", "3");
			this.properties.put("ratelimit.policies.api.penalty.within", "1m");
			this.properties.put("ratelimit.policies.api.penalty.block", "2m");
			refresh(context);
			assertThat(output).contains("penalty 3 in 1m: 2m to 2m").doesNotContain("need a restart");
			this.properties.put("ratelimit.policies.api.mode", "shadow");
			refresh(context);
			assertThat(limits(context, "api", null)).isEmpty();
			this.properties.remove("ratelimit.policies.api.mode");
			this.properties.put("ratelimit.policies.api.limits", "7/m");
			this.properties.put("ratelimit.policies.api.algorithm", "token-bucket");
			this.properties.put("ratelimit.policies.api.burst", "77");
			refresh(context);
			assertThat(decide(context, "api", null).statuses()).first()
				.satisfies((status) -> assertThat(status.remaining()).isEqualTo(76));
		});
	}

	/** The identifiers would change only with a restart. */
	@Test
	void penaltyOfIdentifiersThatClientsShareIsRefused(CapturedOutput output) {
		this.properties.put("ratelimit.policies.api.identifiers", "global");
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.identifiers", "ip");
			this.properties.put("ratelimit.policies.api.penalty.after", "3");
			this.properties.put("ratelimit.policies.api.penalty.within", "1m");
			this.properties.put("ratelimit.policies.api.penalty.block", "2m");
			refresh(context);
			assertThat(output).contains("The policies stay as they were")
				.contains("ratelimit.policies.api.penalty")
				.contains("would block all clients at once");
			assertThat(context.getBean(PolicyDecisions.class)
				.current(context.getBean(ConfiguredPolicies.class).find("api").orElseThrow())
				.policy()
				.penalty()).isNull();
		});
	}

	@Test
	void limitsThatAreTooManyForTheIdentifiersAreRefused(CapturedOutput output) {
		this.properties.put("ratelimit.policies.api.identifiers", headers());
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.identifiers", "ip");
			this.properties.put("ratelimit.policies.api.limits", limits());
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			assertThat(output).contains("The policies stay as they were")
				.contains("ratelimit.policies.api.limits")
				.contains("20 limits for each of 13 identifiers are 260; there must be at most 256.");
		});
	}

	/** Only annotations know their identifiers. */
	@Test
	void policyStaysAsItWasForOtherIdentifiersThatAreTooMany(CapturedOutput output) {
		this.runner.run((context) -> {
			IdentifiedPolicy annotated = context.getBean(ConfiguredPolicies.class)
				.find("api")
				.orElseThrow()
				.withIdentifiers(List.of(headers().split(",")));
			this.properties.put("ratelimit.policies.api.limits", limits());
			refresh(context);
			assertThat(current(context, "api").policy().limits()).hasSize(20);
			assertThat(context.getBean(PolicyDecisions.class).current(annotated)).isEqualTo(annotated);
			assertThat(context.getBean(PolicyDecisions.class).current(annotated)).isEqualTo(annotated);
			assertThat(output)
				.containsOnlyOnce("The policy 'api' is as it was at the start for the identifiers [header:X-1,")
				.contains("20 limits for each of 13 identifiers are 260; there must be at most 256.");
		});
	}

	private static String headers() {
		return IntStream.rangeClosed(1, 13).mapToObj((i) -> "header:X-" + i).collect(Collectors.joining(","));
	}

	private static String limits() {
		return IntStream.rangeClosed(1, 20).mapToObj((i) -> "9/" + i + "m").collect(Collectors.joining(","));
	}

	@Test
	void changedLeaseCounts(CapturedOutput output) {
		this.properties.put("ratelimit.policies.api.algorithm", "fixed-window");
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.lease", "1s");
			refresh(context);
			assertThat(output).contains("lease 1s").contains("lease -").doesNotContain("need a restart");
		});
	}

	@Test
	void changedCallsAtOnceCountForTheNextRequest(CapturedOutput output) {
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.concurrent", "2");
			refresh(context);
			assertThat(output).contains("at once [2/m]").doesNotContain("need a restart");
			assertThat(decide(context, "api", null).statuses())
				.extracting((status) -> status.policy().name(), (status) -> status.remaining())
				.containsExactly(tuple("api", 9L), tuple("api (at once)", 1L));
			this.properties.put("ratelimit.policies.api.concurrent", "0");
			refresh(context);
			assertThat(output).contains("ratelimit.policies.api.concurrent").contains("Must be from 1 to 1000.");
			assertThat(decide(context, "api", null).allowed()).isTrue();
			assertThat(decide(context, "api", null).allowed()).isFalse();
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					limits           | often  | often  | ratelimit.policies.api.limits    | Invalid limit (often): must be quota/window
					mode             | mild   | mild   | ratelimit.policies.api.mode      | Must be one of enforce, shadow.
					algorithm        | guess  | guess  | ratelimit.policies.api.algorithm | must be one of fixed-window
					burst            | 5      | 5      | ratelimit.policies.api.burst     | Is an option of token-bucket
					limit            | 1/s    | limit  | ratelimit.policies.api.limit     | were left unbound
					plans.pro.limits |        |        | ratelimit.policies.api.plans.pro | Is an empty plan
					cost             | x      | x      | ratelimit.policies.api.cost      | Must be a whole number.
					when             | a${N}  | invalid value '${N}' | ratelimit.policies.api.when      | set N, or give it a default
					cost             | redis://:secret@a | *** | ratelimit.policies.api.cost | Must be a whole number.
					""")
	void invalidPropertyKeepsThePoliciesAndIsReported(String property, String value, String shown, String name,
			String rule, CapturedOutput output) {
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.limits", "5/s");
			this.properties.put("ratelimit.policies.api." + property, (value != null) ? value : "");
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			assertThat(output.toString().lines().filter((line) -> line.contains("ERROR"))).singleElement()
				.asString()
				.contains("The policies stay as they were: ")
				.contains(name)
				.contains((shown != null) ? shown : "")
				.contains(rule);
		});
	}

	@Test
	void limitIsRejectedWhenItNeverAllowsCostOfPath(CapturedOutput output) {
		this.properties.put("ratelimit.policies.api.cost", "3");
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.limits", "2/m");
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			assertThat(output)
				.contains("invalid value '[2/m]' for configuration property 'ratelimit.policies.api.limits'")
				.contains("Invalid cost (3): the limit 2/m would never allow it.");
		});
	}

	@Test
	void whatNeedsARestartStaysAsItWasAndIsReported(CapturedOutput output) {
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.paths", "/other/**");
			this.properties.put("ratelimit.policies.api.identifiers", "user");
			this.properties.put("ratelimit.policies.api.missing-identifier", "deny");
			this.properties.put("ratelimit.policies.api.limits", "5/s");
			this.properties.put("ratelimit.policies.new.limits", "5/s");
			this.properties.put("ratelimit.redis.password", "terces");
			this.properties.remove("ratelimit.policies.plans.limits");
			this.properties.remove("ratelimit.policies.plans.plans.pro.limits");
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("5/s");
			assertThat(limits(context, "plans", "pro")).containsExactly("20/m");
			assertThat(current(context, "api").enforcement().missing()).isEqualTo(MissingIdentifier.ADDRESS);
			assertThat(output).contains(
					"Changed properties that need a restart: ratelimit.policies.api.identifiers, ratelimit.policies.api.missing-identifier, ratelimit.policies.api.paths, "
							+ "ratelimit.policies.new, ratelimit.policies.plans, ratelimit.redis")
				.doesNotContain("terces");
		});
	}

	@Test
	void firstPlansOfAPolicyCount(CapturedOutput output) {
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.limits", "5/s");
			this.properties.put("ratelimit.policies.api.plans.pro.limits", "50/s");
			refresh(context);
			assertThat(limits(context, "api", "pro")).containsExactly("50/s");
			assertThat(limits(context, "api", null)).containsExactly("5/s");
			assertThat(output).doesNotContain("need a restart");
		});
	}

	@Test
	void firstPlansNeedRestartWithoutPlanResolver(CapturedOutput output) {
		this.properties.remove("ratelimit.plan");
		this.properties.remove("ratelimit.policies.plans.plans.pro.limits");
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.limits", "5/s");
			this.properties.put("ratelimit.policies.api.plans.pro.limits", "50/s");
			refresh(context);
			assertThat(limits(context, "api", "pro")).containsExactly("10/m");
			assertThat(output).contains("Changed properties that need a restart: ratelimit.policies.api.plans");
		});
		this.properties.remove("ratelimit.policies.api.plans.pro.limits");
		this.runner.withBean(PlanResolver.class, () -> (user, request) -> "pro").run((context) -> {
			this.properties.put("ratelimit.policies.api.plans.pro.limits", "50/s");
			refresh(context);
			assertThat(limits(context, "api", "pro")).containsExactly("50/s");
		});
	}

	private static void refresh(ConfigurableApplicationContext context) {
		context.publishEvent(new RefreshPoliciesEvent(context));
	}

	private static List<String> limits(ConfigurableApplicationContext context, String policy, String plan) {
		return decide(context, policy, plan).statuses()
			.stream()
			.map((status) -> status.limit())
			.map(Limit::toString)
			.toList();
	}

	private static IdentifiedPolicy current(ConfigurableApplicationContext context, String policy) {
		return context.getBean(PolicyDecisions.class)
			.current(context.getBean(ConfiguredPolicies.class).find(policy).orElseThrow());
	}

	private static Decision decide(ConfigurableApplicationContext context, String name, String plan) {
		IdentifiedPolicy policy = current(context, name);
		return context.getBean(PolicyDecisions.class)
			.decide(List.of(new PolicyCharge(policy, Charge.of(policy.policy(), Identifier.GLOBAL), plan)));
	}

}
