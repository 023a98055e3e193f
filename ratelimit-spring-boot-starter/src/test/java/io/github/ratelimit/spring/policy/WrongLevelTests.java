package io.github.ratelimit.spring.policy;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * YAML whose indentation or form is wrong, as somebody may write who does not know the
 * properties yet.
 */
@ExtendWith(OutputCaptureExtension.class)
class WrongLevelTests {

	/**
	 * Spring Boot 4.0 binds a key without a value as an empty text, a later one as
	 * nothing.
	 */
	private static final boolean EMPTY_IS_TEXT = SpringBootVersion.getVersion().startsWith("4.0.");

	private static final String POLICY = "a policy such as { limits: 10/s, paths: /api/** }";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					policies: 10/s                                 | policies                 | 10/s | policies by name, such as { search: { limits: 10/s, paths: /api/** } }
					policies: { search: 10/s }                     | policies.search          | 10/s | a policy such as { limits: 10/s, paths: /api/** }
					policies: { a: { limits: 1/s, routes: GET /x } } | policies.a.routes      | GET /x | a list of routes such as { paths: POST /orders/**, cost: 2 }
					policies: { a: { limits: 1/s, routes: [GET /x] } } | policies.a.routes[0] | GET /x | a route such as { paths: POST /orders/**, cost: 2 }
					policies: { a: { limits: 1/s, plans: pro } }   | policies.a.plans         | pro  | plans by name, such as { pro: { limits: 1000/h } }
					policies: { a: { plans: { pro: 10/s } } }      | policies.a.plans.pro     | 10/s | a plan such as { limits: 1000/h }
					identifiers: tenant                            | identifiers              | tenant | expressions by name, such as { tenant: "#principal.claims['tenant']" }
					defaults: local                                | defaults                 | local | a group of properties: algorithm, count-denied, identifiers, missing-identifier, mode, on-store-failure
					denial-cache: off                              | denial-cache             | false | a group of properties: enabled, max-age, max-size
					redis: redis://anna:topsecret@localhost:6379   | redis                    | ***  | a group of properties such as { url: redis://localhost:6379 }
					redis: { cluster: "redis://:topsecret@a:6379" } | redis.cluster           | ***  | a group of properties: nodes
					redis: { sentinel: "redis://:topsecret@a:6379" } | redis.sentinel         | ***  | a group of properties: master, nodes, password, username
					redis: { ssl: "rediss://:topsecret@a:6379" }   | redis.ssl                | ***  | a group of properties: bundle, enabled
					redis: { port: "redis://:topsecret@a:6379" }   | redis.port               | ***  | a whole number
					""")
	void rightFormIsToldWhenTextReplacesGroup(String yaml, String property, String value, String form,
			CapturedOutput output) {
		assertRefused("ratelimit:%n  %s".formatted(yaml));
		assertThat(output)
			.contains("Invalid value '%s' for configuration property 'ratelimit.%s': must be %s.".formatted(value,
					property, form))
			.contains("    Property: ratelimit.%s%n    Value: \"%s\"%n    Origin: ".formatted(property, value))
			.contains("Set 'ratelimit.%s' to %s.".formatted(property, form))
			.doesNotContain("topsecret");
		assertThat(output.getAll().split("APPLICATION FAILED TO START")[1]).doesNotContain("springframework",
				"io.github");
	}

	@Test
	void levelIsToldWhenPropertyStandsBesideItsPolicy(CapturedOutput output) {
		assertRefused("""
				ratelimit:
				  policies:
				    search:
				    limits: 10/s
				    paths: /api/**
				""");
		if (EMPTY_IS_TEXT) {
			assertThat(output)
				.contains("Invalid value '' for configuration property 'ratelimit.policies.search': must be " + POLICY);
			return;
		}
		assertThat(output)
			.contains("Invalid value '10/s' for configuration property 'ratelimit.policies.limits': must be " + POLICY)
			.contains("'limits' is a property of a policy: indent it below the name of the policy,"
					+ " as in 'ratelimit.policies.NAME.limits'.");
	}

	@Test
	void startFailsWhenTextReplacesAllProperties(CapturedOutput output) {
		assertRefused("ratelimit: 10/s");
		assertThat(output).contains("Invalid value '10/s' for configuration property 'ratelimit'")
			.contains("Must be a group of properties such as { policies: { search: { limits: 10/s } } }.");
	}

	@Test
	void passwordIsHiddenWhenUrlReplacesAllProperties(CapturedOutput output) {
		assertRefused("ratelimit: redis://:topsecret@a:6379");
		assertThat(output).contains("Invalid value '***' for configuration property 'ratelimit'")
			.doesNotContain("topsecret");
	}

	@Test
	void keyOfAnyFormIsNamedWhenItIsUnknown(CapturedOutput output) {
		assertRefused("ratelimit: { '[a b]': 10/s }");
		assertThat(output).contains("There is no property 'ratelimit[a b]', so it would have no effect");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{ policies: , search: { limits: 10/s } }          | search.limits         | Did you mean 'ratelimit.policies.search.limits'?
					{ policies: , search: { limits: [10/s] } }        | search.limits[0]      | Did you mean 'ratelimit.policies.search.limits[0]'?
					{ limits: 10/s }                                  | limits                | Did you mean 'ratelimit.policies.NAME.limits'?
					{ on-store-failure: deny }                        | on-store-failure      | Did you mean 'ratelimit.defaults.on-store-failure' or 'ratelimit.policies.NAME.on-store-failure'?
					{ policies: { redis: { url: "redis://a" } } }     | policies.redis.url    | Did you mean 'ratelimit.redis.url'?
					{ policies: [ { search: { limits: 10/s } } ] }    | policies[0].search.limits | Did you mean 'ratelimit.policies.search.limits'?
					{ policies: { a: [ { limits: 10/s } ] } }         | policies.a[0].limits  | Did you mean 'ratelimit.policies.a.limits'?
					{ policies: { a: { algorithm: { burst: 5 } } } }  | policies.a.algorithm.burst | Did you mean 'ratelimit.policies.a.burst'?
					""")
	void propertyOfOtherLevelIsProposed(String yaml, String property, String proposal, CapturedOutput output) {
		assertRefused("ratelimit: " + yaml);
		if (EMPTY_IS_TEXT && yaml.contains("policies: ,")) {
			assertThat(output).contains("Invalid value '' for configuration property 'ratelimit.policies'")
				.contains("Set 'ratelimit.policies' to policies by name");
			return;
		}
		assertThat(output)
			.contains("There is no property 'ratelimit.%s', so it would have no effect".formatted(property))
			.contains(proposal);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					limits: { quota: 120, window: 1m }     | limits.quota           | limits    | a limit such as 120/m, or a list of them
					limits: [ { quota: 120, window: 1m } ] | limits[0].quota        | limits[0] | a limit such as 120/m
					identifiers: { header: X-User }        | identifiers.header     | identifiers | an identifier such as ip or header:X-User, or a list of them
					identifiers: [ { header: X-User } ]    | identifiers[0].header  | identifiers[0] | an identifier such as ip or header:X-User
					missing-identifier: { header: X }      | missing-identifier.header | missing-identifier | skip, deny, or an identifier such as header:X-User
					algorithm: { name: token-bucket }      | algorithm.name         | algorithm | the name of an algorithm such as token-bucket
					on-store-failure: [ local ]            | on-store-failure[0]    | on-store-failure | one of allow, deny, local
					when: { header: X }                    | when.header            | when      | an expression such as #request.getHeader('X-Channel') == 'web'
					paths: { GET: /x }                     | paths.get              | paths     | a path pattern such as GET /orders/**, or a list of them
					routes: { POST /x: 2 }                 | routes.postx           | routes    | a list of routes such as { paths: POST /orders/**, cost: 2 }
					cost: { POST: 2 }                      | cost.post              | cost      | a whole number
					plans: [ { name: pro, limits: 1/s } ]  | plans[0].name          | plans     | plans by name, such as { pro: { limits: 1000/h } }
					""")
	void rightFormIsToldWhenGroupReplacesText(String yaml, String property, String parent, String form,
			CapturedOutput output) {
		assertRefused("ratelimit: { policies: { search: { %s } } }".formatted(yaml));
		String prefix = "ratelimit.policies.search.";
		assertThat(output)
			.contains("There is no property '%s', so it would have no effect".formatted(prefix + property))
			.containsOnlyOnce("Set '%s' to %s.".formatted(prefix + parent, form));
	}

	private static void assertRefused(String yaml) {
		StandardEnvironment environment = new StandardEnvironment();
		MutablePropertySources sources = environment.getPropertySources();
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setEnvironment(environment);
		assertThatException().isThrownBy(() -> {
			List<PropertySource<?>> loaded = new YamlPropertySourceLoader().load("application.yml",
					new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
			loaded.forEach(sources::addFirst);
			application.run("--spring.main.banner-mode=off");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(RateLimitAutoConfiguration.class)
	static class Application {

	}

}
