package io.github.ratelimit.spring.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.junit.jupiter.api.Test;

import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Names of policies, plans and identifiers are those that a file says.
 */
class MapKeysTests {

	@Test
	void namesInQuotesAndBracketsAreAsWritten() {
		assertThat(plans("""
				"[pro_plus]": { limits: 3/m }
				"[pro-plus]": { limits: 9/m }
				"[Pro-Plus]": { limits: 7/m }
				"[free tier]": { limits: 4/m }
				"[größe]": { limits: 5/m }
				"NO": { limits: 6/m }
				"false": { limits: 2/m }
				47: { unlimited: true }
				Team_A: { unlimited: true }
				""", Map.of())).hasToString(
				"{47=unlimited, NO=[6/m], Pro-Plus=[7/m], Team_A=unlimited, false=[2/m], free tier=[4/m], größe=[5/m], pro-plus=[9/m], pro_plus=[3/m]}");
	}

	@Test
	void variableSetsPlanWhateverItsHyphensAndCase() {
		assertThat(
				plans("pro-plus: { limits: 3/m }\nTeam_A: { limits: 4/m }",
						Map.of("RATELIMIT_POLICIES_A_PLANS_PROPLUS_LIMITS", "8/m",
								"RATELIMIT_POLICIES_A_PLANS_TEAMA_LIMITS", "9/m")))
			.hasToString("{Team_A=[9/m], pro-plus=[8/m]}");
	}

	@Test
	void variablesOfOnePlanAreOneWhateverTheirHyphens() {
		Map<String, String> variables = Map.of("RATELIMIT_POLICIES_A_PLANS_PROPLUS_LIMITS", "8/m",
				"RATELIMIT_POLICIES_A_PLANS_PRO-PLUS_COUNTDENIED", "true");
		run("plan: \"'a'\"\npolicies: { a: { limits: 1/s } }", variables,
				(context) -> assertThat(context.getStartupFailure())
					.hasRootCauseInstanceOf(HiddenValueException.class));
	}

	@Test
	void namesAreReadWhateverTheSpellingOfThePrefix() {
		StarterRunners.web()
			.withPropertyValues("rateLimit.plan='a'", "rate-limit.policies.a.limits=1/s",
					"rate-limit.policies.a.plans.pro_plus.limits=3/m",
					"rate-limit.policies.a.plans.pro-plus.limits=9/m")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasRootCauseInstanceOf(HiddenValueException.class));
	}

	private static Map<String, Object> plans(String yaml, Map<String, String> variables) {
		Map<String, Object> plans = new TreeMap<>();
		run("plan: \"'a'\"\npolicies:\n  a:\n    limits: 1/s\n    plans:\n" + yaml.indent(6), variables, (context) -> {
			assertThat(context).hasNotFailed();
			plans.putAll(context.getBean(ConfiguredPolicies.class).find("a").orElseThrow().plans());
		});
		return plans;
	}

	private static void run(String yaml, Map<String, String> variables,
			ContextConsumer<AssertableWebApplicationContext> check) {
		StarterRunners.web().withInitializer((context) -> {
			context.getEnvironment()
				.getPropertySources()
				.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
						new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
								new HashMap<>(variables)));
			try {
				new YamlPropertySourceLoader()
					.load("file",
							new ByteArrayResource(("ratelimit:\n" + yaml.indent(2)).getBytes(StandardCharsets.UTF_8)))
					.forEach(context.getEnvironment().getPropertySources()::addLast);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}).run(check);
	}

}
