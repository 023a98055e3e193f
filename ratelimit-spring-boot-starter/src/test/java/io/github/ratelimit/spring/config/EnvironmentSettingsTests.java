package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Consumer;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.jspecify.annotations.Nullable;
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
 * Settings in environment variables, system properties and arguments, which would be left
 * out or replace others in silence.
 * <p>
 * Names in capital letters are variables, those after {@code -D} system properties, those
 * after {@code --} arguments, and all others are of a file.
 */
@ExtendWith(OutputCaptureExtension.class)
class EnvironmentSettingsTests {

	private static final String UNKNOWN = "These are not settings of the limiter and have no effect on it: ";

	private static final String WARNING = " replaces the whole list ";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					RATELIMIT_POLICIES_API_ONSTOREFAILUR | policies.api.onstorefailur | Did you mean 'RATELIMIT_POLICIES_API_ONSTOREFAILURE'?
					RATELIMIT_POLICIES_API_ON_STORE_FAILUR | policies.api.on.store.failur | Did you mean 'RATELIMIT_POLICIES_API_ONSTOREFAILURE'?
					RATELIMIT_POLICIES_MYAPI_LIMIT | policies.myapi.limit | Did you mean 'RATELIMIT_POLICIES_MYAPI_LIMITS'?
					RATELIMIT_POLICES_NEW_LIMITS | polices.new.limits | Did you mean 'RATELIMIT_POLICIES_NEW_LIMITS'?
					RATELIMIT_POLICIES_API_ROUTES_0_PATH | policies.api.routes[0].path | Did you mean 'RATELIMIT_POLICIES_API_ROUTES_0_PATHS'?
					RATELIMIT_POLICIES_MY_API_LIMITS | policies.my.api.limits | Did you mean 'RATELIMIT_POLICIES_MYAPI_LIMITS'?
					RATELIMIT_REDIS_HOTS | redis.hots | Did you mean 'RATELIMIT_REDIS_HOST'?
					RATELIMIT_POLICIES_API_SPEED | policies.api.speed | Remove it, or use one of those below 'ratelimit.policies.api': algorithm,
					-Dratelimit.polices.api.limits | polices.api.limits | Did you mean 'ratelimit.policies.api.limits'?
					-Dratelimit.policies.api.on-store-failur | policies.api.on-store-failur | Did you mean 'ratelimit.policies.api.on-store-failure'?
					-Dratelimit.policies.api.onStoreFailur | policies.api.onstorefailur | Did you mean 'ratelimit.policies.api.on-store-failure'?
					-Dratelimit.policies.api.on.store.failure | policies.api.on.store.failure | Did you mean 'ratelimit.policies.api.on-store-failure'?
					RATELIMIT_POLICIES_API_COST_0 | policies.api.cost[0] | cost
					-Dratelimit.enable | enable | Did you mean 'ratelimit.enabled'?
					-Dratelimit.redis.sharding | redis.sharding | Remove it, or use one of those below 'ratelimit.redis': client,
					""")
	void startFailsWhenSettingIsMisspelt(String setting, String property, String proposal, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(setting + "=topsecret"));
		String name = setting.replace("-D", "");
		assertThat(output).contains("APPLICATION FAILED TO START")
			.containsIgnoringCase("There is no property 'ratelimit.%s', so it would have no effect".formatted(property))
			.containsAnyOf("System Environment Property \"%s\"".formatted(name),
					"\"%s\" from property source \"systemProperties\"".formatted(name))
			.contains(proposal)
			.doesNotContain("topsecret");
	}

	/**
	 * Wherever it is set: by a variable, a property, an argument or the file of a
	 * profile.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					RATELIMIT_POLICIES_SERCH_ENABLED=false    | policies.serch | System Environment Property "RATELIMIT_POLICIES_SERCH_ENABLED"
					RATELIMIT_POLICIES_SERCH_PATHS_0=/a       | policies.serch | System Environment Property "RATELIMIT_POLICIES_SERCH_PATHS_0"
					-Dratelimit.policies.serch.mode=shadow    | policies.serch | "ratelimit.policies.serch.mode" from property source "systemProperties"
					--ratelimit.policies.serch.cost=2         | policies.serch | "ratelimit.policies.serch.cost" from property source "commandLineArgs"
					--spring.config.import=classpath:/io/github/ratelimit/spring/config/misspelt.yml | policies[Serch] | misspelt.yml] - 5:25
					RATELIMIT_POLICIES_SEARCH_PLANS_GOLF_BURST=5 | policies.search.plans.golf | System Environment Property "RATELIMIT_POLICIES_SEARCH_PLANS_GOLF_BURST"
					""")
	void misspeltNameOfPolicyIsTold(String setting, String name, String origin, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(setting
				+ ";ratelimit.plan='a';ratelimit.policies.search.limits=1/s;ratelimit.policies.search.plans.gold.limits=9/s"));
		assertThat(output).contains("for configuration property 'ratelimit.%s' (originating from '".formatted(name))
			.contains(origin)
			.contains(name.contains("plans") ? "Did you mean 'gold'?" : "There is no policy of this name")
			.contains(name.contains("plans") ? "limits" : "Did you mean 'search'?");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					RATELIMIT_POLICIES_SERCH_LIMITS=5/s    | System Environment Property "RATELIMIT_POLICIES_SERCH_LIMITS"
					-Dratelimit.policies.serch.limits=5/s  | "ratelimit.policies.serch.limits" from property source "systemProperties"
					--ratelimit.policies.serch.limits=5/s  | "ratelimit.policies.serch.limits" from property source "commandLineArgs"
					--ratelimit.policies[se.rch].limits=5/s | "ratelimit.policies[se.rch].limits" from property source "commandLineArgs"
					RATELIMIT_POLICIES_SERCH_LIMITS=5/s;RATELIMIT_POLICIES_SERCH_PATHS=/b |
					RATELIMIT_POLICIES_OTHER_LIMITS=5/s    |
					""")
	void wholePolicyThatNothingUsesMayBeMisspelt(String settings, @Nullable String origin, CapturedOutput output) {
		start(settings + ";ratelimit.policies.search.limits=1/s;ratelimit.policies.search.paths=/a");
		if (origin == null) {
			assertThat(output).doesNotContain("Did you mean");
			return;
		}
		String name = settings.contains("[") ? "se.rch" : "serch";
		assertThat(output).contains("The policy '%s' limits nothing yet, which is set by %s. Did you mean 'search'?"
			.formatted(name, origin));
	}

	/** Either no hyphen of a name is an underscore in a variable, or each is. */
	@ParameterizedTest
	@ValueSource(
			strings = { "RATELIMIT_POLICIES_MY_API_ONSTOREFAILURE=deny", "RATELIMIT_POLICIES_MY_API_COUNTDENIED=true",
					"-Dratelimit.policies.my.api.limits=5/m", "-Dratelimit.ip.trusted.proxies=10.0.0.0/8" })
	void nameThatSpringBootDoesNotReadIsRefused(String setting) {
		assertThatException().isThrownBy(() -> start("ratelimit.policies.my-api.limits=1/s;" + setting));
	}

	@ParameterizedTest
	@ValueSource(strings = {
			"RATELIMITER_URL=x;RATELIMIT=on;RATELIMIT_SERVICE_HOST=10.0.0.1;RATELIMIT_SERVICE_PORT=6379;RATELIMIT_SERVICE_PORT_GRPC=1",
			"RATELIMIT_PORT=tcp://10.0.0.1:6379;RATELIMIT_PORT_6379_TCP=tcp://10.0.0.1:6379;RATELIMIT_PORT_6379_TCP_PROTO=tcp",
			"RATELIMIT_PORT_53_UDP_ADDR=10.0.0.1;RATELIMIT_REDIS_SERVICE_HOST=10.0.0.1;RATELIMIT_REDIS_PORT_6379_TCP_PORT=6379",
			"RATELIMIT_HEALTH_SERVICE_PORT=1;RATELIMIT_POLICIES_API_ALGORITHM=sliding-log;RATELIMIT_REDIS_SSL_ENABLED=false",
			"RATELIMIT_POLICIES_API_ON_STORE_FAILURE=deny;RATELIMIT_DENIALCACHE_MAXAGE=1s;RATELIMIT_DEFAULTS_IDENTIFIERS=global",
			"RATELIMIT_POLICIES_API_ONSTOREFAILURE=deny;RATELIMIT_DENIAL_CACHE_MAX_AGE=1s;RATELIMIT_DEFAULTS_IDENTIFIERS_0=global",
			"RATELIMIT_REDIS_HOST=localhost;RATELIMIT_KEY_PREFIX=a",
			"ratelimit.policies.my-api.limits=1/s;RATELIMIT_POLICIES_MY_API_ON_STORE_FAILURE=deny;RATELIMIT_POLICIES_MYAPI_COUNTDENIED=true",
			"RATELIMIT_DENY_0=user:a;RATELIMIT_POLICIES_API_ROUTES_1_PATHS=/b;--ratelimit.deny=user:b;--ratelimit.policies.api.routes[0].paths=/a",
			"-Dratelimit.policies.api.on-store-failure=deny", "-Dratelimit.policies.api.onStoreFailure=deny",
			"-Dratelimit.policies[api].limits[0]=5/s", "-Dratelimit.identifiers.a=#request.method",
			"-Dratelimit.policies.api.plans.pro.limits=9/s;ratelimit.plan='pro'" })
	void nothingIsSaidOfSettings(String settings, CapturedOutput output) {
		start(settings + ";ratelimit.redis.host=localhost");
		assertThat(output).doesNotContain(UNKNOWN);
	}

	@Test
	void settingsAreToldThatMayBeOfAnother(CapturedOutput output) {
		start("RATELIMIT_URL=topsecret;RATELIMIT_ENABLE=topsecret;RATELIMIT_TEST_REDIS=topsecret;RATELIMIT_PORT=topsecret;RATELIMIT_REDIS_DB=topsecret;RATELIMIT_INSTANCE=topsecret;-Dratelimit.version=topsecret");
		assertThat(output.toString().lines().filter((line) -> line.contains(UNKNOWN))).singleElement()
			.asString()
			.endsWith(UNKNOWN + "RATELIMIT_ENABLE (RATELIMIT_ENABLED?), RATELIMIT_INSTANCE (RATELIMIT_INSTANCES?), "
					+ "RATELIMIT_PORT, RATELIMIT_REDIS_DB, RATELIMIT_TEST_REDIS, RATELIMIT_URL, ratelimit.version");
		assertThat(output).doesNotContain("topsecret");
	}

	@Test
	void variableIsOfPolicyWhateverItsHyphensAndCase() {
		check("ratelimit.policies.my-api.limits=1/s;ratelimit.policies.myApi2.limits=1/s;ratelimit.policies.MY_API3.limits=1/s;RATELIMIT_POLICIES_MYAPI_LIMITS=7/s;RATELIMIT_POLICIES_MYAPI2_LIMITS=8/s;RATELIMIT_POLICIES_MYAPI3_LIMITS=9/s",
				(policies) -> assertThat(policies.policies().keySet()).containsExactlyInAnyOrder("api", "my-api",
						"myApi2", "MY_API3"));
		check("RATELIMIT_POLICIES_MYAPI_LIMITS=7/s;--spring.config.import=classpath:/io/github/ratelimit/spring/config/hyphens.yml",
				(policies) -> assertThat(policies.find("my-api").orElseThrow().policy().limits()).hasToString("[7/s]"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					PLANS[pro_plus].limits=3/m;PLANS[pro-plus].limits=9/m;PLANS[Pro-Plus].limits=7/m | Pro-Plus=[7/m], pro-plus=[9/m], pro_plus=[3/m]
					PLANS[free tier].limits=4/m;PLANS[größe].limits=5/m;PLANS.NO.limits=6/m | NO=[6/m], free tier=[4/m], größe=[5/m]
					PLANS.false.limits=2/m;PLANS.47.unlimited=true;PLANS.Team_A.limits=8/m | 47=unlimited, Team_A=[8/m], false=[2/m]
					PLANS.pro-plus.limits=3/m;RATELIMIT_POLICIES_API_PLANS_PROPLUS_LIMITS=8/m | pro-plus=[8/m]
					PLANS.Team_A.limits=4/m;RATELIMIT_POLICIES_API_PLANS_TEAMA_LIMITS=9/m | Team_A=[9/m]
					""")
	void namesOfPlansAreThoseOfTheFile(String limits, String plans) {
		String settings = limits.replaceAll("PLANS(?=[.\\[])", "ratelimit.policies.api.plans");
		check("ratelimit.plan='a';" + settings,
				(policies) -> assertThat(new TreeMap<>(policies.find("api").orElseThrow().plans()))
					.hasToString("{" + plans + "}"));
	}

	@ParameterizedTest
	@ValueSource(strings = {
			"RATELIMIT_POLICIES_API_PLANS_PROPLUS_LIMITS=8/m;RATELIMIT_POLICIES_API_PLANS_PRO-PLUS_COUNTDENIED=true",
			"rateLimit.plan='a';rate-limit.policies.a.plans.pro_plus.limits=3/m;rate-limit.policies.a.plans.pro-plus.limits=9/m" })
	void twoSpellingsOfOnePlanAreRefused(String settings) {
		assertThatException().isThrownBy(() -> start(settings))
			.havingRootCause()
			.isInstanceOf(HiddenValueException.class);
	}

	/** Spring Boot replaces a list as a whole. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					RATELIMIT_POLICIES_API_LIMITS_0=5/s    | policies.api.limits       | [0]=1/s;[1]=2/m;[2]=3/h   | [1] [2]
					RATELIMIT_POLICIES_API_LIMITS_0=5/s    | policies.api.limits       | =1/s, 2/m                 | [1]
					RATELIMIT_POLICIES_API_IDENTIFIERS_0=ip | policies.api.identifiers | [0]=user;[1]=ip           | [1]
					RATELIMIT_POLICIES_MYAPI_PATHS_0=/d    | policies.my-api.paths     | [0]=/a;[1]=/b;[2]=/c      | [1] [2]
					RATELIMIT_DENY_0=ip:10.0.0.1           | deny                      | [0]=user:a;[1]=user:b     | [1]
					RATELIMIT_IP_TRUSTEDPROXIES_0=10.0.0.1 | ip.trusted-proxies        | [0]=10.0.0.2;[1]=10.0.0.3 | [1]
					RATELIMIT_IP_TRUSTED_PROXIES_0=10.0.0.1 | ip.trusted-proxies       | [0]=10.0.0.2;[1]=10.0.0.3 | [1]
					RATELIMIT_DEFAULTS_IDENTIFIERS_0=ip    | defaults.identifiers      | [0]=user;[1]=ip           | [1]
					RATELIMIT_POLICIES_API_ROUTES_0_PATHS=/a | policies.api.routes | [0].paths[0]=/b;[0].cost=5;[1].paths=/c | [0].cost [1].paths
					--ratelimit.policies.api.limits[0]=5/s | policies.api.limits       | [0]=1/s;[1]=2/m           | [1]
					-Dratelimit.policies.api.limits[0]=5/s | policies.api.limits       | [0]=1/s;[1]=2/m           | [1]
					""")
	void warningNamesWhatReplacesPartsOfList(String setting, String list, String parts, String lost,
			CapturedOutput output) {
		String name = "ratelimit." + list;
		start(setting + ";ratelimit.policies.my-api.limits=1/s;" + name + parts.replace(";", ";" + name));
		String shown = name.replace("my-api", "myapi");
		assertThat(output.toString().lines().filter((line) -> line.contains(WARNING))).singleElement()
			.asString()
			.contains("WARN", "\"" + setting.replaceFirst("^-[D-]", "").replaceFirst("=.*", "") + "\"",
					WARNING + shown + ", so that [" + shown + lost.replace(" ", ", " + shown) + "] of ",
					"have no effect")
			.doesNotContain("user:b");
	}

	@Test
	void nothingIsSaidOfListsThatAreReplacedOnPurpose(CapturedOutput output) {
		String lists = "ratelimit.policies.api.limits[0]=1/s;ratelimit.policies.api.limits[1]=2/m;";
		start(lists
				+ "ratelimit.policies.api.identifiers[0]=user;ratelimit.policies.api.identifiers[1]=ip;ratelimit.deny[0]=user:a;RATELIMIT_POLICIES_API_LIMITS=5/s;RATELIMIT_POLICIES_API_IDENTIFIERS_0=ip;RATELIMIT_POLICIES_API_IDENTIFIERS_1=header:X-User;RATELIMIT_DENY_0=user:b");
		// A file that replaces a list of another is meant to, as that of a profile.
		check(lists + "--spring.config.import=classpath:/io/github/ratelimit/spring/config/shorter-lists.yml",
				(policies) -> assertThat(policies.find("api").orElseThrow().policy().limits()).hasToString("[50/s]"));
		assertThat(output).doesNotContain(WARNING);
	}

	/** The last one is of a Kubernetes service that is named {@code ratelimit-redis}. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					RATELIMIT_POLICIES_API_ROUTES_0_COST=3 | null | policies.api.routes[0].paths
					RATELIMIT_ALLOW_0=header:X-Api-Key:topsecret${NOT_SET} | ${NOT_SET} | allow[0]
					RATELIMIT_REDIS_PORT=tcp://10.0.0.1:6379;RATELIMIT_REDIS_PORT_6379_TCP_PROTO=tcp | tcp://10.0.0.1:6379 | redis.port
					""")
	void failureNamesVariable(String setting, String value, String property, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(setting + ";ratelimit.policies.api.routes[0].paths=/a"));
		assertThat(output)
			.contains("Invalid value '%s' for configuration property 'ratelimit.%s'".formatted(value, property),
					"System Environment Property \"%s\"".formatted(setting.replaceFirst("=.*", "")))
			.doesNotContain("topsecret");
	}

	@Test
	void defaultsAndEscapesAndOverriddenPlaceholdersMayRemain() {
		check("RATELIMIT_POLICIES_API_LIMITS=${NOT_SET:${NOR_THIS:7/s}};RATELIMIT_ALLOW_0=header:X-Api-Key:${NOT_SET:a};RATELIMIT_KEYPREFIX=${KEY};KEY=a;ratelimit.key-prefix=${NOT_SET};ratelimit.allow[0]=${NOT_SET};ratelimit.allow[1]=${NOT_SET};ratelimit.identifier-secret=\\${LITERAL} and ${ open;ratelimit.identifiers.tenant=${NOT_SET:#request.method}",
				(policies) -> assertThat(policies.find("api").orElseThrow().policy().limits()).hasToString("[7/s]"));
	}

	private static void start(String settings) {
		run(settings).close();
	}

	private static void check(String settings, Consumer<ConfiguredPolicies> check) {
		try (ConfigurableApplicationContext context = run(settings)) {
			check.accept(context.getBean(ConfiguredPolicies.class));
		}
	}

	private static ConfigurableApplicationContext run(String settings) {
		Map<String, Object> variables = new HashMap<>();
		Properties system = new Properties();
		Map<String, Object> file = new HashMap<>();
		List<String> arguments = new ArrayList<>();
		for (String setting : settings.split(";")) {
			String[] parts = setting.split("=", 2);
			if (parts[0].startsWith("-D")) {
				system.put(parts[0].substring(2), parts[1]);
			}
			else if (parts[0].startsWith("--")) {
				arguments.add(setting);
			}
			else {
				(parts[0].matches("[A-Z_0-9-]+") ? variables : file).put(parts[0], parts[1]);
			}
		}
		if (!file.containsKey("ratelimit.policies.api.limits[0]")) {
			file.putIfAbsent("ratelimit.policies.api.limits", "10/s");
		}
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, new SystemEnvironmentPropertySource(
					StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables));
		environment.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME,
					new PropertiesPropertySource(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME, system));
		return StarterRunners.application(Application.class)
			.properties(file)
			.environment(environment)
			.run(arguments.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

}
