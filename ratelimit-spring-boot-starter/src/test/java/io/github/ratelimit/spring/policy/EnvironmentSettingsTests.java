package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Settings in environment variables and system properties, where a misspelt one would be
 * left out in silence.
 */
@ExtendWith(OutputCaptureExtension.class)
class EnvironmentSettingsTests {

	private static final String NOT_THERE = "There is no property '%s', so it would have no effect";

	private static final String UNKNOWN = "These are not settings of the limiter and have no effect on it: ";

	@Nested
	class Variables {

		@ParameterizedTest
		@CsvSource({
				"RATELIMIT_POLICIES_API_ONSTOREFAILUR, ratelimit.policies.api.onstorefailur, RATELIMIT_POLICIES_API_ONSTOREFAILURE",
				"RATELIMIT_POLICIES_API_ON_STORE_FAILUR, ratelimit.policies.api.on.store.failur, RATELIMIT_POLICIES_API_ONSTOREFAILURE",
				"RATELIMIT_POLICIES_MYAPI_LIMIT, ratelimit.policies.myapi.limit, RATELIMIT_POLICIES_MYAPI_LIMITS",
				"RATELIMIT_POLICES_API_LIMITS, ratelimit.polices.api.limits, RATELIMIT_POLICIES_API_LIMITS",
				"RATELIMIT_POLICIES_API_ROUTES_0_PATH, ratelimit.policies.api.routes[0].path, RATELIMIT_POLICIES_API_ROUTES_0_PATHS",
				"RATELIMIT_POLICIES_MY_API_LIMITS, ratelimit.policies.my.api.limits, RATELIMIT_POLICIES_MYAPI_LIMITS",
				"RATELIMIT_REDIS_HOTS, ratelimit.redis.hots, RATELIMIT_REDIS_HOST" })
		void startFailsWhenVariableIsMisspelt(String variable, String property, String meant, CapturedOutput output) {
			assertThatException().isThrownBy(() -> start(Map.of(variable, "topsecret"), Map.of()));
			assertThat(output).contains("APPLICATION FAILED TO START")
				.contains(NOT_THERE.formatted(property))
				.contains("System Environment Property \"%s\"".formatted(variable))
				.contains("Did you mean '%s'?".formatted(meant))
				.doesNotContain("topsecret");
		}

		@Test
		void startFailsWhenKnownPolicyHasNoSuchSetting(CapturedOutput output) {
			assertThatException().isThrownBy(() -> start(Map.of("RATELIMIT_POLICIES_API_SPEED", "1"), Map.of()));
			assertThat(output).contains(NOT_THERE.formatted("ratelimit.policies.api.speed"))
				.contains("Remove it, or use one of those below 'ratelimit.policies.api': algorithm,");
		}

		@ParameterizedTest
		@ValueSource(strings = {
				"RATELIMITER_URL=x RATELIMIT=on RATELIMIT_SERVICE_HOST=10.0.0.1 RATELIMIT_SERVICE_PORT=6379 RATELIMIT_SERVICE_PORT_GRPC=1",
				"RATELIMIT_PORT=tcp://10.0.0.1:6379 RATELIMIT_PORT_6379_TCP=tcp://10.0.0.1:6379 RATELIMIT_PORT_6379_TCP_PROTO=tcp",
				"RATELIMIT_PORT_53_UDP_ADDR=10.0.0.1 RATELIMIT_REDIS_SERVICE_HOST=10.0.0.1 RATELIMIT_REDIS_PORT_6379_TCP_PORT=6379",
				"RATELIMIT_HEALTH_SERVICE_PORT=1 RATELIMIT_POLICIES_API_ALGORITHM=sliding-log RATELIMIT_REDIS_SSL_ENABLED=false",
				"RATELIMIT_POLICIES_API_ON_STORE_FAILURE=deny RATELIMIT_DENIALCACHE_MAXAGE=1s RATELIMIT_DEFAULTS_IDENTIFIERS=global",
				"RATELIMIT_POLICIES_API_ONSTOREFAILURE=deny RATELIMIT_DENIAL_CACHE_MAX_AGE=1s RATELIMIT_DEFAULTS_IDENTIFIERS_0=global",
				"RATELIMIT_REDIS_HOST=localhost RATELIMIT_KEY_PREFIX=a" })
		void nothingIsSaidOfVariables(String variables, CapturedOutput output) {
			start(Arrays.stream(variables.split(" "))
				.map((variable) -> variable.split("="))
				.collect(Collectors.toMap((parts) -> parts[0], (parts) -> parts[1])),
					Map.of("--ratelimit.redis.host", "localhost"));
			assertThat(output).doesNotContain(UNKNOWN);
		}

		@Test
		void variablesAreToldWhenTheyMayBeOfAnother(CapturedOutput output) {
			start(Stream
				.of("RATELIMIT_URL", "RATELIMIT_ENABLE", "RATELIMIT_TEST_REDIS", "RATELIMIT_PORT", "RATELIMIT_REDIS_DB",
						"RATELIMIT_INSTANCE")
				.collect(Collectors.toMap(Function.identity(), (variable) -> "topsecret")), Map.of());
			assertThat(output.toString().lines().filter((line) -> line.contains(UNKNOWN))).singleElement()
				.asString()
				.contains("WARN", "RATELIMIT_URL", "RATELIMIT_ENABLE (RATELIMIT_ENABLED?)", "RATELIMIT_TEST_REDIS",
						"RATELIMIT_PORT", "RATELIMIT_REDIS_DB", "RATELIMIT_INSTANCE (RATELIMIT_INSTANCES?)")
				.doesNotContain("RATELIMIT_URL (", "RATELIMIT_TEST_REDIS (", "RATELIMIT_PORT (",
						"RATELIMIT_REDIS_DB (");
			assertThat(output).doesNotContain("topsecret");
		}

		@Test
		void variableIsOfPolicyWhateverItsHyphensAndCase() {
			Map<String, String> properties = Map.of("--ratelimit.policies.my-api.limits", "1/s",
					"--ratelimit.policies.myApi2.limits", "1/s", "--ratelimit.policies.MY_API3.limits", "1/s");
			check(Map.of("RATELIMIT_POLICIES_MYAPI_LIMITS", "7/s", "RATELIMIT_POLICIES_MYAPI2_LIMITS", "8/s",
					"RATELIMIT_POLICIES_MYAPI3_LIMITS", "9/s"), properties,
					(policies) -> assertThat(policies.policies().keySet()).containsExactlyInAnyOrder("api", "my-api",
							"myApi2", "MY_API3"));
		}

		@Test
		void variableSetsPolicyOfFileWithHyphens() {
			check(Map.of("RATELIMIT_POLICIES_MYAPI_LIMITS", "7/s"),
					Map.of("spring.config.import", "classpath:/io/github/ratelimit/spring/policy/hyphens.yml"),
					(policies) -> assertThat(policies.find("my-api").orElseThrow().policy().limits())
						.hasToString("[7/s]"));
		}

	}

	@Nested
	class Placeholders {

		@Test
		void startFailsWhenPlaceholderOfVariableIsNotSet(CapturedOutput output) {
			assertThatException()
				.isThrownBy(() -> start(Map.of("RATELIMIT_ALLOW_0", "header:X-Api-Key:topsecret${NOT_SET}"), Map.of()));
			assertThat(output).contains("Invalid value '${NOT_SET}' for configuration property 'ratelimit.allow[0]'")
				.contains("System Environment Property \"RATELIMIT_ALLOW_0\"")
				.doesNotContain("topsecret");
		}

		@Test
		void defaultsAndEscapesAndOverriddenPlaceholdersMayRemain() {
			Map<String, String> variables = Map.of("RATELIMIT_POLICIES_API_LIMITS", "${NOT_SET:${NOR_THIS:7/s}}",
					"RATELIMIT_ALLOW_0", "header:X-Api-Key:${NOT_SET:a}", "RATELIMIT_KEYPREFIX", "${KEY}", "KEY", "a");
			Map<String, String> properties = Map.of("--ratelimit.key-prefix", "${NOT_SET}", "--ratelimit.allow[0]",
					"${NOT_SET}", "--ratelimit.allow[1]", "${NOT_SET}", "--ratelimit.identifier-secret",
					"\\${LITERAL} and ${ open", "--ratelimit.identifiers.tenant", "${NOT_SET:#request.method}");
			check(variables, properties, (policies) -> assertThat(policies.find("api").orElseThrow().policy().limits())
				.hasToString("[7/s]"));
		}

	}

	@Nested
	class SystemProperties {

		@ParameterizedTest
		@CsvSource({ "ratelimit.polices.api.limits, 'ratelimit.policies'",
				"ratelimit.policies.api.on-store-failur, 'ratelimit.policies.api.on-store-failure'",
				"ratelimit.policies.api.onStoreFailur, 'ratelimit.policies.api.on-store-failure'",
				"ratelimit.enable, 'ratelimit.enabled'" })
		void startFailsWhenPropertyIsMisspelt(String property, String meant, CapturedOutput output) {
			assertThatException().isThrownBy(() -> start(Map.of(), Map.of("-D" + property, "topsecret")));
			assertThat(output).contains("APPLICATION FAILED TO START")
				.containsIgnoringCase(NOT_THERE.formatted(property))
				.contains("from property source \"systemProperties\"")
				.contains("Did you mean '" + meant.replace("'", "") + "'?")
				.doesNotContain("topsecret");
		}

		@Test
		void startFailsWhenGroupHasNoSuchProperty(CapturedOutput output) {
			assertThatException().isThrownBy(() -> start(Map.of(), Map.of("-Dratelimit.redis.sharding", "1")));
			assertThat(output).contains(NOT_THERE.formatted("ratelimit.redis.sharding"))
				.contains("Remove it, or use one of those below 'ratelimit.redis': client,");
		}

		@Test
		void propertyIsToldWhenItMayBeOfBuild(CapturedOutput output) {
			start(Map.of(), Map.of("-Dratelimit.version", "1"));
			assertThat(output).contains(UNKNOWN + "ratelimit.version");
		}

		@ParameterizedTest
		@ValueSource(strings = { "ratelimit.policies.api.on-store-failure=deny",
				"ratelimit.policies.api.onStoreFailure=deny", "ratelimit.policies[api].limits[0]=5/s",
				"ratelimit.identifiers.a=#request.method", "ratelimit.policies.api.plans.pro.limits=9/s" })
		void propertyCountsWhenThereIsOne(String property) {
			int end = property.indexOf('=');
			start(Map.of(), Map.of("-D" + property.substring(0, end), property.substring(end + 1), "--ratelimit.plan",
					"'pro'", "--ratelimit.policies.api.plans.pro.limits", "8/s"));
		}

	}

	private static void start(Map<String, String> variables, Map<String, String> properties) {
		run(variables, properties).close();
	}

	private static void check(Map<String, String> variables, Map<String, String> properties,
			Consumer<ConfiguredPolicies> check) {
		try (ConfigurableApplicationContext context = run(variables, properties)) {
			check.accept(context.getBean(ConfiguredPolicies.class));
		}
	}

	/** Properties are default properties, options, or system properties. */
	private static ConfigurableApplicationContext run(Map<String, String> variables, Map<String, String> properties) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, new SystemEnvironmentPropertySource(
					StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, new HashMap<>(variables)));
		Properties system = new Properties();
		Map<String, Object> defaults = new HashMap<>();
		List<String> arguments = new ArrayList<>();
		properties.forEach((name, value) -> {
			if (name.startsWith("-D")) {
				system.put(name.substring(2), value);
			}
			else if (name.startsWith("--")) {
				defaults.put(name.substring(2), value);
			}
			else {
				arguments.add("--" + name + "=" + value);
			}
		});
		environment.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME,
					new PropertiesPropertySource(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME, system));
		defaults.put("ratelimit.policies.api.limits", "10/s");
		return StarterRunners.application(Application.class)
			.properties(defaults)
			.environment(environment)
			.run(arguments.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

}
