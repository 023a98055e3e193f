package io.github.ratelimit.spring.config;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
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
			this.properties.put("ratelimit.policies.api.limits", "5/s,7/m");
			this.properties.put("ratelimit.policies.plans.plans.pro.limits", "30/m");
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("5/s", "7/m");
			assertThat(limits(context, "plans", "pro")).containsExactly("30/m");
			assertThat(output).contains("The policy 'api' has changed: [limits is [5/s, 7/m], was 10/m]");
			refresh(context, "penalty.after=3;penalty.within=1m;penalty.block=2m");
			refresh(context, "algorithm=fixed-window;lease=1s");
			assertThat(output).contains("penalty is { after: 3, within: 1m, block: 2m }, was not set",
					"lease is 1s, was not set");
			refresh(context, "lease;mode=shadow");
			assertThat(limits(context, "api", null)).isEmpty();
			refresh(context, "mode;enabled=false");
			assertThat(decide(context, "api", null)).isEqualTo(Decided.UNLIMITED.decision());
			refresh(context, "enabled;limits=7/m;algorithm=token-bucket;burst=77");
			assertThat(decide(context, "api", null).statuses()).first()
				.satisfies((status) -> assertThat(status.remaining()).isEqualTo(76));
			assertThat(output).doesNotContain("need a restart");
		});
	}

	/** The identifiers would change only with a restart. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					global  | penalty.after=3;penalty.within=1m;penalty.block=2m | penalty     | would block all clients at once
					HEADERS | limits=LIMITS | identifiers | 20 limits for each of 13 identifiers are 260; there must be at most 256.
					""")
	void optionsThatTheFirstIdentifiersForbidAreRefused(String identifiers, String options, String property,
			String rule, CapturedOutput output) {
		this.properties.put("ratelimit.policies.api.identifiers", identifiers.replace("HEADERS", headers()));
		this.runner.run((context) -> {
			IdentifiedPolicy before = current(context, "api");
			refresh(context, "identifiers=ip;" + options.replace("LIMITS", limits()));
			assertThat(output).contains("The policies stay as they were")
				.contains("ratelimit.policies.api." + property)
				.contains(rule);
			assertThat(current(context, "api")).isEqualTo(before);
		});
	}

	/** Only annotations know their identifiers. */
	@Test
	void policyStaysWhenNewIdentifiersAreTooMany(CapturedOutput output) {
		this.runner.run((context) -> {
			IdentifiedPolicy annotated = context.getBean(ConfiguredPolicies.class)
				.find("api")
				.orElseThrow()
				.withIdentifiers(List.of(headers().split(",")));
			refresh(context, "limits=" + limits());
			assertThat(current(context, "api").policy().limits()).hasSize(20);
			assertThat(context.getBean(Decider.class).current(annotated)).isEqualTo(annotated);
			assertThat(context.getBean(Decider.class).current(annotated)).isEqualTo(annotated);
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
	void changedConcurrentRequestsCountForTheNextOne(CapturedOutput output) {
		this.runner.run((context) -> {
			refresh(context, "concurrent=2");
			assertThat(output).contains("[concurrent is 2, was not set]").doesNotContain("need a restart");
			assertThat(decide(context, "api", null).statuses())
				.extracting((status) -> status.policy().name(), (status) -> status.remaining())
				.containsExactly(tuple("api", 9L), tuple("api (at once)", 1L));
			refresh(context, "concurrent=0");
			assertThat(output).contains("ratelimit.policies.api.concurrent").contains("Must be from 1 to 1000.");
			assertThat(decide(context, "api", null).allowed()).isTrue();
			assertThat(decide(context, "api", null).allowed()).isFalse();
		});
	}

	@Test
	void resetThatAnybodyCouldCauseIsToldOnce(CapturedOutput output) {
		String told = "The reset of the policy 'api' lets whoever has an account clear the count of 'ip' between two guesses.";
		this.properties.put("ratelimit.policies.api.paths", "POST /api/**");
		this.properties.put("ratelimit.policies.api.identifiers", "ip,ip+user");
		this.runner.run((context) -> {
			refresh(context, "reset-when=status in [200];reset=ip+user");
			assertThat(output).contains("reset is ip+user").doesNotContain("between two guesses");
			refresh(context, "reset=ip,ip+user");
			refresh(context, "limits=7/m");
			assertThat(output).containsOnlyOnce(told);
		});
	}

	/** As a validator of the application. */
	@Test
	void refusalOfAnotherIsToldWithItsReason(CapturedOutput output) {
		Map<ConfigurationPropertyName, String> refusals = new HashMap<>();
		ConfigurationPropertiesBindHandlerAdvisor validator = (parent) -> new AbstractBindHandler(parent) {
			@Override
			public void onFinish(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Object result) {
				if (refusals.containsKey(name)) {
					throw new IllegalStateException(refusals.get(name));
				}
			}
		};
		this.runner.withBean(ConfigurationPropertiesBindHandlerAdvisor.class, () -> validator).run((context) -> {
			refusals.put(ConfigurationPropertyName.of("ratelimit"), "There must be a\npolicy for admins");
			refresh(context, "limits=5/s");
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			assertThat(output).contains("The policies stay as they were: ")
				.contains("There must be a policy for admins");
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					policies.api.limits           | often | 'often' for configuration property 'ratelimit.policies.api.limits' | Invalid limit (often): must be quota/window
					policies.api.mode             | mild  | 'mild' for configuration property 'ratelimit.policies.api.mode' | must be one of enforce, shadow.
					policies.api.algorithm        | guess | 'guess' for configuration property 'ratelimit.policies.api.algorithm' | must be one of fixed-window
					policies.api.burst            | 5     | '5' for configuration property 'ratelimit.policies.api.burst' | Is an option of token-bucket
					policies.api.limit            | 1/s   | There is no property 'ratelimit.policies.api.limit' | would have no effect
					policies.api.plans.pro.limits | ``    | for configuration property 'ratelimit.policies.api.plans.pro' | Is an empty plan
					policies.api.when             | a${N} | '${N}' for configuration property 'ratelimit.policies.api.when' | set N, or give it a default
					policies.api.cost             | redis://:secret@a | '***' for configuration property 'ratelimit.policies.api.cost' | must be a whole number.
					policies.new.limits           | 5/x   | '5/x' for configuration property 'ratelimit.policies.new.limits' | must be quota/window
					policies.api.identifiers      | ip,ip | for configuration property 'ratelimit.policies.api.identifiers' | identifier
					policies.api.cost             | 11    | '11' for configuration property 'ratelimit.policies.api.cost' | would never allow it
					defaults.algorithm            | guess | 'guess' for configuration property 'ratelimit.defaults.algorithm' | must be one of fixed-window
					""")
	void mistakeIsReportedAndKeepsThePolicies(String property, String value, String refusal, String rule,
			CapturedOutput output) {
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.api.limits", "5/s");
			Object before = this.properties.put("ratelimit." + property, value);
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("10/m");
			assertThat(output.toString().lines().filter((line) -> line.contains("ERROR"))).singleElement()
				.asString()
				.contains("The policies stay as they were: ", refusal, rule);
			assertThat(output).doesNotContain("need a restart", "has changed");
			this.properties.compute("ratelimit." + property, (name, wrong) -> before);
			refresh(context);
			assertThat(limits(context, "api", null)).containsExactly("5/s");
		});
	}

	@Test
	void whatNeedsARestartStaysAndIsReported(CapturedOutput output) {
		this.runner.run((context) -> {
			this.properties.put("ratelimit.policies.new.limits", "5/s");
			this.properties.put("ratelimit.redis.password", "terces");
			this.properties.keySet().removeIf((name) -> name.startsWith("ratelimit.policies.plans."));
			refresh(context, "paths=/other/**;identifiers=user;missing-identifier=deny;limits=5/s");
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
	void firstPlansNeedRestartOnlyWithoutPlanResolver(CapturedOutput output) {
		this.runner.run((context) -> {
			refresh(context, "limits=5/s;plans.pro.limits=50/s");
			assertThat(limits(context, "api", "pro")).containsExactly("50/s");
			assertThat(limits(context, "api", null)).containsExactly("5/s");
		});
		this.properties.keySet()
			.removeAll(List.of("ratelimit.plan", "ratelimit.policies.plans.plans.pro.limits",
					"ratelimit.policies.api.plans.pro.limits"));
		this.runner.withBean(PlanResolver.class, () -> (user, request) -> "pro").run((context) -> {
			refresh(context, "plans.pro.limits=50/s");
			assertThat(limits(context, "api", "pro")).containsExactly("50/s");
			assertThat(output).doesNotContain("need a restart");
		});
		this.properties.remove("ratelimit.policies.api.plans.pro.limits");
		this.runner.run((context) -> {
			refresh(context, "limits=6/s;plans.pro.limits=50/s");
			assertThat(limits(context, "api", "pro")).containsExactly("6/s");
			assertThat(output).contains("Changed properties that need a restart: ratelimit.policies.api.plans");
		});
	}

	/** Spring Boot lets them wrap each other by their order. */
	@Test
	void advisorsOfBindingComeInTheirOrder() {
		List<String> applied = new CopyOnWriteArrayList<>();
		this.runner.withBean("second", ConfigurationPropertiesBindHandlerAdvisor.class, () -> new Advisor(2, applied))
			.withBean("first", ConfigurationPropertiesBindHandlerAdvisor.class, () -> new Advisor(1, applied))
			.run((context) -> {
				List<String> started = List.copyOf(applied.subList(0, 2));
				applied.clear();
				refresh(context);
				assertThat(applied).isEqualTo(started).containsExactly("1", "2");
			});
	}

	private record Advisor(int order,
			List<String> applied) implements ConfigurationPropertiesBindHandlerAdvisor, Ordered {

		@Override
		public BindHandler apply(BindHandler handler) {
			this.applied.add(String.valueOf(this.order));
			return handler;
		}

		@Override
		public int getOrder() {
			return this.order;
		}

	}

	/** Changes options of the policy; one without a value is no longer set. */
	private void refresh(ConfigurableApplicationContext context, String options) {
		for (String option : options.split(";")) {
			String[] parts = option.split("=", 2);
			String name = "ratelimit.policies.api." + parts[0];
			if (parts.length == 1) {
				this.properties.remove(name);
			}
			else {
				this.properties.put(name, parts[1]);
			}
		}
		refresh(context);
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
		return context.getBean(Decider.class)
			.current(context.getBean(ConfiguredPolicies.class).find(policy).orElseThrow());
	}

	private static Decision decide(ConfigurableApplicationContext context, String name, String plan) {
		IdentifiedPolicy policy = current(context, name);
		return context.getBean(Decider.class)
			.decide(List.of(new PolicyCharge(policy, Charge.of(policy.policy(), Identifier.GLOBAL), plan)))
			.decision();
	}

}
