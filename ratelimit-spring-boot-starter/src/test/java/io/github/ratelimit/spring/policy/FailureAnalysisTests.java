package io.github.ratelimit.spring.policy;

import java.util.Arrays;
import java.util.Map;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.assertj.core.api.AbstractStringAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What {@link SpringApplication} prints when rate limits cannot be enforced.
 */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					ratelimit.policies.api.limits=often    | ratelimit.policies.api.limits | often   | Invalid limit (often): must be quota/window
					ratelimit.defaults.identifiers=address  | ratelimit.defaults.identifiers | address | Invalid identifier (address): must be ip, user
					ratelimit.redis.url=nonsense           | ratelimit.redis.url              | nonsense | Must be a URL such as redis://
					ratelimit.headers.styles=draft,loud    | ratelimit.headers.styles         | draft,loud | Invalid header style (loud): must be one of draft, x-rate-limit, x-ratelimit
					ratelimit.headers.styles=none,draft    | ratelimit.headers.styles         | none,draft | Must be none, or a list of styles.
					ratelimit.policies[ä].limits=1/s       | ratelimit.policies[ä]            | ä       | Invalid policy name (ä): must be 1 to 128 printable ASCII characters other than '/'
					ratelimit.policies[a/b].limits=1/s     | ratelimit.policies[a/b]          | a/b     | Invalid policy name (a/b): must be 1 to 128 printable ASCII characters other than '/'
					""")
	void descriptionNamesPropertyAndValueAndRule(String argument, String property, String value, String rule,
			CapturedOutput output) {
		assertFails(output, argument)
			.contains("Invalid value '%s' for configuration property '%s'".formatted(value, property))
			.contains(rule)
			.contains("Review the value of the property with the provided reason.");
	}

	@Test
	void descriptionNamesOriginOfTextThatReplacesAList(CapturedOutput output) {
		assertFails(output, "spring.config.location=classpath:/io/github/ratelimit/spring/autoconfigure/wrong.yml",
				"ratelimit.policies.api.limits=5/s,seldom")
			.contains("Invalid value '5/s,seldom' for configuration property 'ratelimit.policies.api.limits'")
			.contains("\"commandLineArgs\"")
			.contains("Invalid limit (seldom): must be quota/window");
	}

	@Test
	void descriptionNamesOriginOfValue(CapturedOutput output) {
		assertFails(output, "spring.config.location=classpath:/io/github/ratelimit/spring/autoconfigure/wrong.yml")
			.contains("Invalid value 'often' for configuration property 'ratelimit.policies.api.limits[1]'")
			.contains("wrong.yml] - 4:")
			.contains("Invalid limit (often): must be quota/window");
	}

	/** In this file, and in nothing else, are the lists and groups that are wrong. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			conflict      | ratelimit.policies.conflict.limits      | 5:11
			missing       | ratelimit.policies.missing.limits       | 4:14
			twice         | ratelimit.policies.twice.identifiers    | 5:21
			capital       | ratelimit.policies[myApi].limits[0]     | 4:16
			plan          | ratelimit.policies.plan.plans.pro       | 7:24
			proxies       | ratelimit.ip.trusted-proxies[0]         | 3:23
			list          | ratelimit.deny[1]                       | 4:7
			nodes         | ratelimit.redis.cluster.nodes           | 5:11
			slash         | ratelimit.policies[a/b]                 | 4:15
			""")
	void descriptionNamesOriginOfListsAndGroups(String profile, String property, String place, CapturedOutput output) {
		assertFails(output,
				"spring.config.location=classpath:/io/github/ratelimit/spring/policy/origin/" + profile + ".yml")
			.contains("for configuration property '%s' (originating from '".formatted(property))
			.contains(profile + ".yml] - " + place)
			.doesNotContain("topsecret");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					names     |           | ratelimit.policies.myapi      | names.yml] - 6:15     | my-api    | names.yml] - 4:15
					spellings |           | ratelimit.policies[mySearch]  | spellings.yml] - 5:25 | my-search | spellings.yml] - 4:26
					base      | base-prod | ratelimit.policies[mySearch]  | base-prod.yml] - 3:25 | my-search | base.yml] - 4:15
					""")
	void descriptionNamesBothSpellingsOfPolicy(String file, @Nullable String profile, String property, String place,
			String other, String otherPlace, CapturedOutput output) {
		String folder = "classpath:/io/github/ratelimit/spring/policy/origin/";
		String files = folder + file + ".yml" + ((profile != null) ? "," + folder + profile + ".yml" : "");
		assertAnalysis(output, "spring.config.location=" + files)
			.contains("for configuration property '%s' (originating from '".formatted(property))
			.contains(place)
			.contains("Is the same name to Spring Boot as 'ratelimit.policies.%s' (originating from '".formatted(other))
			.contains(otherPlace)
			.contains("write '%s' in both places".formatted(other));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			ratelimit.identifier-secret              | topsecret${NOT_SET}
			ratelimit.allow                          | ip:10.0.0.1,header:X-Api-Key:topsecret${NOT_SET}
			ratelimit.deny[0]                        | header:X-Api-Key:${ALSO_NOT:topsecret${NOT_SET}}
			ratelimit.identifiers.tenant             | #principal.${NOT_SET}
			ratelimit.policies.api.plans.pro.limits  | ${NOT_SET}
			ratelimit.policies.api.cost              | ${NOT_SET}
			ratelimit.redis.password                 | topsecret${NOT_SET}
			""")
	void descriptionNamesPlaceholderWithoutValue(String property, String value, CapturedOutput output) {
		assertAnalysis(output, "ratelimit.policies.api.limits=10/s", property + "=" + value)
			.contains("Invalid value '${NOT_SET}' for configuration property '%s'".formatted(property))
			.contains("(originating from '\"%s\" from property source \"commandLineArgs\"')".formatted(property))
			.contains("set NOT_SET, or give it a default: ${NOT_SET:value}.")
			.doesNotContain("topsecret");
	}

	@Test
	void nearestPolicyIsProposedWhenAnnotationNamesNone(CapturedOutput output) {
		assertThatException()
			.isThrownBy(() -> start(AnnotatedApplication.class, "ratelimit.policies.nothin.limits=1/s"));
		assertThat(output)
			.contains("there is no policy 'nothing' below ratelimit.policies, only [nothin]. Did you mean 'nothin'?");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.path=/api/**", "ratelimit.policy.api.limits=10/s",
			"ratelimit.redis.hots=localhost", "ratelimit.enable=false" })
	void propertyThatDoesNotExistStopsTheStart(String argument, CapturedOutput output) {
		assertFails(output, "ratelimit.policies.api.limits=10/s", argument)
			.contains("There is no property '%s', so it would have no effect"
				.formatted(argument.substring(0, argument.indexOf('='))));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.allowed[0]", "ratelimit.policies.api.allow", "ratelimit.ip.secret" })
	void valueOfPropertyThatDoesNotExistIsNotPrinted(String property, CapturedOutput output) {
		assertFails(output, "ratelimit.policies.api.limits=10/s", property + "=header:X-Api-Key:topsecret")
			.contains("There is no property '%s', so it would have no effect".formatted(property))
			.contains("Origin: \"%s\" from property source \"commandLineArgs\"".formatted(property))
			.doesNotContain("topsecret");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					policies.api.on-store-failure | lokal     | allow, deny, local             | Did you mean 'local'?
					policies.api.on-store-failure | allows    | allow, deny, local             | Did you mean 'allow'?
					defaults.mode                 | Shadows   | enforce, shadow                | Did you mean 'shadow'?
					policies.api.rounding         | downwards | none, down, up                 | ''
					ip.forwarded-header           | x-real-ip | x-forwarded-for, forwarded     | ''
					ip.forwarded-header           | x_forwarded_fro | x-forwarded-for, forwarded | Did you mean 'x-forwarded-for'?
					""")
	void allowedValuesAreListedAndNearestIsProposed(String property, String value, String values, String proposal,
			CapturedOutput output) {
		assertAnalysis(output, "ratelimit.policies.api.limits=10/s", "ratelimit.%s=%s".formatted(property, value))
			.contains("Invalid value '%s' for configuration property 'ratelimit.%s': must be one of %s."
				.formatted(value, property, values))
			.contains("Set 'ratelimit.%s' to one of %s.%s".formatted(property, values,
					proposal.isEmpty() ? System.lineSeparator() : " " + proposal))
			.doesNotContain("io.github", "enum");
	}

	@Test
	void passwordOfWrongUrlIsNotPrinted(CapturedOutput output) {
		assertFails(output, "ratelimit.redis.url=http://user:sec/ret@example.com:6379")
			.contains("http://***@example.com:6379")
			.doesNotContain("sec/ret");
	}

	@Test
	void passwordWithoutHostIsNotPrinted(CapturedOutput output) {
		assertFails(output, "ratelimit.redis.password=sec/ret")
			.contains("Invalid value '***' for configuration property 'ratelimit.redis.password'")
			.doesNotContain("sec/ret");
	}

	@Test
	void descriptionNamesSeveralServersOfBeans(CapturedOutput output) {
		assertFails(output, SeveralServersApplication.class, WebApplicationType.NONE)
			.contains("required a single bean, but 2 were found")
			.contains("- counts: defined by method 'counts'")
			.contains("- sessions: defined by method 'sessions'")
			.contains("@Primary");
	}

	/** Of a service that is named {@code ratelimit-redis}. */
	@Test
	void descriptionNamesPortThatKubernetesSets(CapturedOutput output) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
					new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
							Map.of("RATELIMIT_REDIS_PORT", "tcp://10.0.0.1:6379", "RATELIMIT_REDIS_SERVICE_HOST",
									"10.0.0.1", "RATELIMIT_REDIS_PORT_6379_TCP_PROTO", "tcp")));
		SpringApplicationBuilder application = StarterRunners.application(Application.class)
			.web(WebApplicationType.NONE)
			.environment(environment);
		assertThatException().isThrownBy(application::run);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(
					"Invalid value 'tcp://10.0.0.1:6379' for configuration property 'ratelimit.redis.port': must be a whole number")
			.contains("RATELIMIT_REDIS_PORT");
	}

	@Test
	void descriptionNamesPathsWhenApplicationServesNone(CapturedOutput output) {
		assertFails(output, Application.class, WebApplicationType.NONE, "ratelimit.policies.api.limits=1/s",
				"ratelimit.policies.api.paths=/api/**")
			.contains("for configuration property 'ratelimit.policies.api.paths'")
			.contains("Paths can be limited only in a Servlet web application.");
	}

	@Test
	void descriptionNamesMethodWhenAnnotationIsWrong(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(AnnotatedApplication.class));
		String method = "public void " + Annotated.class.getName() + ".call()";
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid @RateLimited on " + method
					+ ": there is no policy 'nothing' below ratelimit.policies, only [].")
			.contains("Correct the annotation on " + method + ".");
	}

	@Test
	void descriptionNamesMethodWhenItsNameCannotBeSent(CapturedOutput output) {
		assertFails(output, OddlyNamedApplication.class, WebApplicationType.SERVLET)
			.contains("Invalid policy name (Größe.call): must be 1 to 128 printable ASCII characters other than '/'")
			.contains("Correct the annotation on public void " + Größe.class.getName() + ".call().");
	}

	@Test
	void actionNamesRemedyWhenMethodIsPrivate(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(PrivateApplication.class, WebApplicationType.NONE));
		assertThat(output.getAll().split("Action:")[1])
			.contains("Make the method non-private and non-static, or annotate a method that other beans call.")
			.doesNotContain("annotation on");
	}

	/** Returns what is printed after the log. */
	private static AbstractStringAssert<?> assertAnalysis(CapturedOutput output, String... properties) {
		assertFails(output, properties);
		return assertThat(output.getAll().split("APPLICATION FAILED TO START")[1]);
	}

	/** Returns all that is printed. */
	private static AbstractStringAssert<?> assertFails(CapturedOutput output, String... properties) {
		return assertFails(output, Application.class, WebApplicationType.SERVLET, properties);
	}

	private static AbstractStringAssert<?> assertFails(CapturedOutput output, Class<?> application,
			WebApplicationType type, String... properties) {
		assertThatException().isThrownBy(() -> start(application, type, properties));
		return assertThat(output.getAll()).contains("APPLICATION FAILED TO START");
	}

	private static void start(Class<?> application, String... properties) {
		start(application, WebApplicationType.SERVLET, properties);
	}

	private static void start(Class<?> application, WebApplicationType type, String... properties) {
		StarterRunners.application(application)
			.web(type)
			.run(Arrays.stream(properties).map("--"::concat).toArray(String[]::new))
			.close();
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

	static class AnnotatedApplication extends Application {

		@Bean
		Annotated annotated() {
			return new Annotated();
		}

	}

	static class PrivateApplication extends Application {

		@RateLimited(limits = "1/s")
		private static void call() {
		}

	}

	static class Annotated {

		@RateLimited("nothing")
		public void call() {
		}

	}

	static class OddlyNamedApplication extends Application {

		@Bean
		Größe größe() {
			return new Größe();
		}

	}

	static class Größe {

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

}
