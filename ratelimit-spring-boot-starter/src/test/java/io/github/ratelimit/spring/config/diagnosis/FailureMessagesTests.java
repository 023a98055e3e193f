package io.github.ratelimit.spring.config.diagnosis;

import java.util.Arrays;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.assertj.core.api.AbstractStringAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What Spring Boot prints when rate limits cannot be enforced, also to somebody who does
 * not know the properties yet.
 */
@ExtendWith(OutputCaptureExtension.class)
class FailureMessagesTests {

	/**
	 * Spring Boot 4.0 binds a key without a value as an empty text, a later one as
	 * nothing.
	 */
	private static final boolean EMPTY_IS_TEXT = SpringBootVersion.getVersion().startsWith("4.0.");

	private static final String ORIGINS = "classpath:/io/github/ratelimit/spring/config/origin/";

	private final StandardEnvironment environment = new StandardEnvironment();

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					policies: 10/s | policies | 10/s | policies by name, such as { search: { limits: 10/s, paths: /api/** } }
					policies: { search: 10/s } | policies.search | 10/s | a policy such as { limits: 10/s, paths: /api/** }
					policies: { a: { limits: 1/s, routes: GET /x } } | policies.a.routes | GET /x | a list of routes such as { paths: POST /orders/**, cost: 2 }
					policies: { a: { limits: 1/s, routes: [GET /x] } } | policies.a.routes[0] | GET /x | a route such as { paths: POST /orders/**, cost: 2 }
					policies: { a: { limits: 1/s, plans: pro } } | policies.a.plans | pro | plans by name, such as { pro: { limits: 1000/h } }
					policies: { a: { plans: { pro: 10/s } } } | policies.a.plans.pro | 10/s | a plan such as { limits: 1000/h }
					identifiers: tenant | identifiers | tenant | expressions by name, such as { tenant: "#principal.claims['tenant']" }
					defaults: local | defaults | local | a group of properties: algorithm, count-denied, identifiers, missing-identifier, mode, on-store-failure
					denial-cache: off | denial-cache | false | a group of properties: enabled, max-age, max-size
					redis: redis://anna:topsecret@localhost:6379 | redis | *** | a group of properties such as { url: redis://localhost:6379 }
					redis: { cluster: "redis://:topsecret@a:6379" } | redis.cluster | *** | a group of properties: nodes
					redis: { sentinel: "redis://:topsecret@a:6379" } | redis.sentinel | *** | a group of properties: credentials, master, nodes, password, username
					redis: { ssl: "rediss://:topsecret@a:6379" } | redis.ssl | *** | a group of properties: bundle, enabled, server-name
					redis: { port: "redis://:topsecret@a:6379" } | redis.port | *** | a whole number
					""")
	void rightFormIsToldWhenTextReplacesGroup(String yaml, String property, String value, String form,
			CapturedOutput output) {
		assertAnalysisOfYaml(output, "{ %s }".formatted(yaml))
			.contains("Invalid value '%s' for configuration property 'ratelimit.%s': must be %s.".formatted(value,
					property, form))
			.contains("    Property: ratelimit.%s%n    Value: \"%s\"%n    Origin: ".formatted(property, value))
			.contains("Set 'ratelimit.%s' to %s.".formatted(property, form))
			.doesNotContain("topsecret", "springframework", "io.github");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					limits: { quota: 120, window: 1m } | limits.quota | limits | a limit such as 120/m, or a list of them
					limits: [ { quota: 120, window: 1m } ] | limits[0].quota | limits[0] | a limit such as 120/m
					identifiers: { header: X-User } | identifiers.header | identifiers | an identifier such as ip or header:X-User, or a list of them
					identifiers: [ { header: X-User } ] | identifiers[0].header | identifiers[0] | an identifier such as ip or header:X-User
					missing-identifier: { header: X } | missing-identifier.header | missing-identifier | skip, deny, or an identifier such as header:X-User
					algorithm: { name: token-bucket } | algorithm.name | algorithm | the name of an algorithm such as token-bucket
					on-store-failure: [ local ] | on-store-failure[0] | on-store-failure | one of allow, deny, local
					when: { header: X } | when.header | when | an expression such as #request.getHeader('X-Channel') == 'web'
					paths: { GET: /x } | paths.get | paths | a path pattern such as GET /orders/**, or a list of them
					routes: { POST /x: 2 } | routes.postx | routes | a list of routes such as { paths: POST /orders/**, cost: 2 }
					cost: { POST: 2 } | cost.post | cost | a whole number
					plans: [ { name: pro, limits: 1/s } ] | plans[0].name | plans | plans by name, such as { pro: { limits: 1000/h } }
					""")
	void rightFormIsToldWhenGroupReplacesText(String yaml, String property, String parent, String form,
			CapturedOutput output) {
		assertAnalysisOfYaml(output, "{ policies: { search: { %s } } }".formatted(yaml))
			.contains("There is no property 'ratelimit.policies.search.%s', so it would have no effect"
				.formatted(property))
			.containsOnlyOnce("Set 'ratelimit.policies.search.%s' to %s.".formatted(parent, form));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{ policies: , search: { limits: 10/s } } | search.limits | Did you mean 'ratelimit.policies.search.limits'?
					{ policies: , search: { limits: [10/s] } } | search.limits[0] | Did you mean 'ratelimit.policies.search.limits[0]'?
					{ limits: 10/s } | limits | Did you mean 'ratelimit.policies.NAME.limits'?
					{ penalty: { mode: shadow } } | penalty.mode | Did you mean 'ratelimit.policies.NAME.penalty.mode'?
					{ on-store-failure: deny } | on-store-failure | Did you mean 'ratelimit.defaults.on-store-failure' or 'ratelimit.policies.NAME.on-store-failure'?
					{ policies: { redis: { url: "redis://a" } } } | policies.redis.url | Did you mean 'ratelimit.redis.url'?
					{ policies: [ { search: { limits: 10/s } } ] } | policies[0].search.limits | Did you mean 'ratelimit.policies.search.limits'?
					{ policies: { a: [ { limits: 10/s } ] } } | policies.a[0].limits | Did you mean 'ratelimit.policies.a.limits'?
					{ policies: { a: { algorithm: { burst: 5 } } } } | policies.a.algorithm.burst | Did you mean 'ratelimit.policies.a.burst'?
					{ polices: { api: { limits: 10/s } } } | polices.api.limits | Did you mean 'ratelimit.policies.api.limits'?
					{ policies: { api: { path: /api/** } } } | policies.api.path | Did you mean 'ratelimit.policies.api.paths'?
					{ enable: false } | enable | Did you mean 'ratelimit.enabled'?
					{ redis: { hots: topsecret } } | redis.hots | Did you mean 'ratelimit.redis.host'?
					{ default-identifiers: ip } | default-identifiers | Did you mean 'ratelimit.defaults.identifiers'?
					{ allowed: [ "header:X-Api-Key:topsecret" ] } | allowed[0] | Did you mean 'ratelimit.allow[0]'?
					{ ip: { secret: topsecret } } | ip.secret | use one of those below 'ratelimit.ip': forwarded-header, ipv6-prefix, trusted-proxies.
					{ defaults: { burst: 5 } } | defaults.burst | use one of those below 'ratelimit.defaults': algorithm, count-denied, identifiers, missing-identifier, mode, on-store-failure.
					{ "[a b]": 10/s } | [a b] | use one of those below 'ratelimit': allow, defaults,
					""")
	void propertyThatMayBeMeantIsProposed(String yaml, String property, String proposal, CapturedOutput output) {
		if (EMPTY_IS_TEXT && yaml.contains("policies: ,")) {
			assertAnalysisOfYaml(output, yaml).contains("Set 'ratelimit.policies' to policies by name");
			return;
		}
		assertAnalysisOfYaml(output, yaml)
			.contains("There is no property 'ratelimit%s', so it would have no effect".formatted(named(property)))
			.contains("Origin: ")
			.contains(proposal)
			.doesNotContain("topsecret");
	}

	private static String named(String property) {
		return property.startsWith("[") ? property : "." + property;
	}

	@Test
	void levelIsToldWhenPropertyStandsBesideItsPolicy(CapturedOutput output) {
		AbstractStringAssert<?> analysis = assertAnalysisOfYaml(output, "{ policies: { search: , limits: 10/s } }")
			.contains("': must be a policy such as { limits: 10/s, paths: /api/** }");
		if (!EMPTY_IS_TEXT) {
			analysis.contains(
					"'limits' is a property of a policy: indent it below the name of the policy, as in 'ratelimit.policies.NAME.limits'.");
		}
	}

	@ParameterizedTest
	@CsvSource({ "10/s, 10/s", "redis://:topsecret@a:6379, ***" })
	void startFailsWhenTextReplacesAllProperties(String text, String shown, CapturedOutput output) {
		assertAnalysisOfYaml(output, text)
			.contains("Invalid value '%s' for configuration property 'ratelimit'".formatted(shown))
			.contains("Must be a group of properties such as { policies: { search: { limits: 10/s } } }.")
			.doesNotContain("topsecret");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			policies.api.on-store-failure | lokal | allow, deny, local | Did you mean 'local'?
			policies.api.on-store-failure | allows | allow, deny, local | Did you mean 'allow'?
			defaults.mode | Shadows | enforce, shadow | Did you mean 'shadow'?
			policies.api.rounding | downwards | none, down, up | ''
			ip.forwarded-header | x-real-ip | x-forwarded-for, forwarded | ''
			ip.forwarded-header | x_forwarded_fro | x-forwarded-for, forwarded | Did you mean 'x-forwarded-for'?
			""")
	void allowedValuesAreListedAndNearestIsProposed(String property, String value, String values, String proposal,
			CapturedOutput output) {
		assertAnalysis(output, "ratelimit.policies.api.limits=10/s", "ratelimit.%s=%s".formatted(property, value))
			.contains("Invalid value '%s' for configuration property 'ratelimit.%s': must be one of %s."
				.formatted(value, property, values))
			.contains("Set 'ratelimit.%s' to one of %s.%s".formatted(property, values,
					proposal.isEmpty() ? System.lineSeparator() : " " + proposal));
	}

	/** In this file, and in nothing else, are the lists and groups that are wrong. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			conflict | ratelimit.policies.conflict.limits | 5:11
			missing | ratelimit.policies.missing.limits | 4:14
			twice | ratelimit.policies.twice.identifiers | 5:21
			capital | ratelimit.policies[myApi].limits | 4:16
			plan | ratelimit.policies.plan.plans.pro | 7:24
			proxies | ratelimit.ip.trusted-proxies | 3:23
			list | ratelimit.deny | 4:7
			nodes | ratelimit.redis.cluster.nodes | 5:11
			slash | ratelimit.policies[a/b] | 4:15
			""")
	void descriptionNamesOriginOfListsAndGroups(String file, String property, String place, CapturedOutput output) {
		assertAnalysis(output, "spring.config.location=" + ORIGINS + file + ".yml")
			.contains("for configuration property '%s' (originating from '".formatted(property))
			.contains(file + ".yml] - " + place)
			.doesNotContain("topsecret");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			names | | ratelimit.policies.myapi | names.yml] - 6:15 | my-api | names.yml] - 4:15
			spellings | | ratelimit.policies.mySearch | spellings.yml] - 5:25 | my-search | spellings.yml] - 4:26
			base | base-prod | ratelimit.policies.mySearch | base-prod.yml] - 3:25 | my-search | base.yml] - 4:15
			""")
	void descriptionNamesBothSpellingsOfPolicy(String file, @Nullable String profile, String property, String place,
			String other, String otherPlace, CapturedOutput output) {
		String files = ORIGINS + file + ".yml" + ((profile != null) ? "," + ORIGINS + profile + ".yml" : "");
		assertAnalysis(output, "spring.config.location=" + files)
			.contains("for configuration property '%s' (originating from '".formatted(property))
			.contains(place)
			.contains("Is the same name to Spring Boot as 'ratelimit.policies.%s' (originating from '".formatted(other))
			.contains(otherPlace)
			.contains("write '%s' in both places".formatted(other));
	}

	@Test
	void descriptionNamesOriginOfTextThatReplacesAList(CapturedOutput output) {
		assertAnalysis(output, "spring.config.location=" + ORIGINS + "conflict.yml",
				"ratelimit.policies.conflict.limits=5/s,seldom")
			.contains("Invalid value '5/s,seldom' for configuration property 'ratelimit.policies.conflict.limits'")
			.contains("\"commandLineArgs\"")
			.contains(
					"The property is also set by 'class path resource [io/github/ratelimit/spring/config/origin/conflict.yml] - 5:11'.")
			.contains("Invalid limit (seldom): must be quota/window");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			ratelimit.identifier-secret | topsecret${NOT_SET}
			ratelimit.allow | ip:10.0.0.1,header:X-Api-Key:topsecret${NOT_SET}
			ratelimit.deny[0] | header:X-Api-Key:${ALSO_NOT:topsecret${NOT_SET}}
			ratelimit.identifiers.tenant | #principal.${NOT_SET}
			ratelimit.policies.api.plans.pro.limits | ${NOT_SET}
			ratelimit.policies.api.cost | ${NOT_SET}
			""")
	void descriptionNamesPlaceholderWithoutValue(String property, String value, CapturedOutput output) {
		assertAnalysis(output, "ratelimit.policies.api.limits=10/s", property + "=" + value)
			.contains("Invalid value '${NOT_SET}' for configuration property '%s'".formatted(property))
			.contains("(originating from '\"%s\" from property source \"commandLineArgs\"')".formatted(property))
			.contains("set NOT_SET, or give it a default: ${NOT_SET:value}.")
			.doesNotContain("topsecret");
	}

	/** While a file is missing, it would connect without a password. */
	@Test
	void placeholderOfPasswordIsAdvisedNoDefault(CapturedOutput output) {
		assertAnalysis(output, "ratelimit.redis.password=topsecret${NOT_SET}")
			.contains("Invalid value '${NOT_SET}' for configuration property 'ratelimit.redis.password'",
					"set NOT_SET. The start needs the password, also if it is in a file.")
			.doesNotContain("give it a default", "topsecret");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.url=http://user:top/secret@example.com:6379",
			"spring.data.redis.url=http://user:topsecret@a", "ratelimit.redis.password=topsecret" })
	void passwordIsNotPrinted(String setting, CapturedOutput output) {
		assertAnalysis(output, setting).contains("***").doesNotContain("secret@", "topsecret");
	}

	@Test
	void annotationThatNamesNoPolicyIsNamed(CapturedOutput output) {
		String call = "public void " + Annotated.class.getName() + ".call()";
		assertAnalysis(output, Annotated.class, "ratelimit.policies.nothin.limits=1/s")
			.contains("Invalid @RateLimited on " + call
					+ ": there is no policy 'nothing' below ratelimit.policies, only [nothin]. Did you mean 'nothin'?")
			.contains("Correct the annotation on " + call + ".");
		assertAnalysis(output, Größe.class).contains(
				"Invalid policy name (Größe.call): must be 1 to 128 printable ASCII characters other than '/'",
				"Correct the annotation on public void " + Größe.class.getName() + ".call().");
		assertAnalysis(output, Private.class)
			.contains("Make the method non-private and non-static, or annotate a method that other beans call.");
	}

	@Test
	void serversAmongWhichNoneIsPrimaryAreNamed(CapturedOutput output) {
		assertAnalysis(output, SeveralServersApplication.class).contains("required a single bean, but 2 were found",
				"- counts: defined by method 'counts'", "- sessions: defined by method 'sessions'", "@Primary");
	}

	private AbstractStringAssert<?> assertAnalysisOfYaml(CapturedOutput output, String yaml) {
		StarterRunners.yaml("file", "ratelimit: " + yaml).forEach(this.environment.getPropertySources()::addFirst);
		return assertAnalysis(output);
	}

	private AbstractStringAssert<?> assertAnalysis(CapturedOutput output, String... properties) {
		return assertAnalysis(output, Application.class, properties);
	}

	/** Returns what is printed after the log. */
	private AbstractStringAssert<?> assertAnalysis(CapturedOutput output, Class<?> application, String... properties) {
		assertThatException().isThrownBy(() -> StarterRunners.application(application)
			.web(WebApplicationType.SERVLET)
			.environment(this.environment)
			.run(Arrays.stream(properties).map("--"::concat).toArray(String[]::new)));
		String all = output.getAll();
		return assertThat(all.substring(all.lastIndexOf("APPLICATION FAILED TO START")));
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

	static class SeveralServersApplication extends Application {

		@Bean
		DataRedisConnectionDetails counts() {
			return new DataRedisConnectionDetails() {
			};
		}

		@Bean
		DataRedisConnectionDetails sessions() {
			return new DataRedisConnectionDetails() {
			};
		}

	}

	static class Private {

		@RateLimited(limits = "1/s")
		private static void call() {
		}

	}

	static class Annotated {

		@RateLimited("nothing")
		public void call() {
		}

	}

	static class Größe {

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

}
