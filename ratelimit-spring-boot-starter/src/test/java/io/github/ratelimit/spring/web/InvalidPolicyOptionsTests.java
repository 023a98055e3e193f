package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Exclusions, conditions and answers that cannot be stop the start, with the name of the
 * property, its value and the rule.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidPolicyOptionsTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withPropertyValues("ratelimit.policies.api.limits=10/s");

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					exclude=/web                                             | exclude              | Excludes nothing: there are no limited paths.
					policies.api.exclude=/api/x                              | policies.api.exclude | Excludes nothing: there are no limited paths.
					policies.api.paths=/api/**;policies.api.exclude=/web     | policies.api.exclude | Excludes nothing: it is on none of the limited paths [/api/**].
					policies.api.paths=GET /api/**;policies.api.exclude=POST /api/x | policies.api.exclude | Excludes nothing: it is on none of the limited paths [GET /api/**].
					policies.api.routes[0].paths=/api/*;policies.api.exclude=/api/x/y | policies.api.exclude | Excludes nothing: it is on none of the limited paths [/api/*].
					policies.api.paths=/api/**;policies.api.exclude=api/x    | policies.api.exclude | Invalid path (api/x): must be a pattern such as /api/** or GET /user/**.
					policies.api.paths=/api/**;exclude=/api/{x               | exclude              | Invalid path (/api/{x):
					policies.api.paths=/api/**;exclude=/web                  | exclude              | Excludes nothing: it is on none of the limited paths [/api/**].
					policies.api.paths=/api/a,/api/b;policies.api.exclude=/api/** | policies.api.paths | All of these are excluded, by [/api/**], so that the policy limits none of them.
					policies.api.paths=/api/a,/b/c;policies.api.exclude=/api/**;exclude=/b/** | policies.api.paths | All of these are excluded, by [/b/**, /api/**]
					policies.api.when=                                       | policies.api.when    | Invalid expression (): is empty; in YAML, # begins a comment
					policies.api.when=#request.                              | policies.api.when    | Invalid expression (#request.): EL1
					policies.api.when=#req.secure                            | policies.api.when    | Invalid expression (#req.secure): #req is not allowed; it may only read properties and methods of the variables #principal, #query and #request
					policies.api.unless=request.secure                       | policies.api.unless  | Invalid expression (request.secure): request does not follow a variable
					policies.api.unless=#request.secured                     | policies.api.unless  | Invalid expression (#request.secured): there is no property 'secured' in jakarta.servlet.http.HttpServletRequest, the nearest is 'secure'.
					policies.api.when=T(java.lang.System).exit(0)            | policies.api.when    | T(java.lang.System) is not allowed
					policies.api.when=@bean.isOpen()                         | policies.api.when    | @bean is not allowed
					policies.api.when=#request.setAttribute('a', 'b') == null && (#request.method = 'GET') | policies.api.when | is not allowed
					policies.api.when=#principal.admin                       | policies.api.when    | Invalid condition (#principal.admin): must not use the user, who is not known before the login; plans and ratelimit.allow can.
					policies.api.unless=#request.isUserInRole('ADMIN')       | policies.api.unless  | must not use the user
					policies.api.when=true                                   | policies.api.when    | Invalid condition (true): must use #request or #query, or it would be the same for all requests.
					policies.api.when=#request.method                        | policies.api.when    | Invalid condition (#request.method): must be true or false, but is a String.
					policies.api.algorithm=sliding-log;policies.api.metadata='web' | policies.api.metadata | Invalid expression ('web'): must use #request, #query or #principal, or it would be the same for everybody.
					policies.api.algorithm=sliding-log;policies.api.metadata=#request.reader | policies.api.metadata | Invalid expression (#request.reader): reader reads the body
					policies.api.algorithm=sliding-log;policies.api.limits=1001/d;policies.api.metadata=#request.method | policies.api.limits | 1000
					policies.api.metadata=#request.method                    | policies.api.metadata | Is an option of sliding-log, but the algorithm of this policy is sliding-window: change the algorithm, or remove the option.
					rejection.status=399                                     | rejection.status     | Must be from 400 to 599
					rejection.status=600                                     | rejection.status     | Must be from 400 to 599
					rejection.type=not a uri                                 | rejection.type       | Invalid type (not a uri): must be a URI, such as https://example.com/problems/quota.
					rejection.type=                                          | rejection.type       | Invalid type (): must be a URI
					""")
	void startFailsWithPropertyAndRule(String properties, String property, String rule) {
		this.runner
			.withPropertyValues(
					Stream.of(properties.split(";")).map((each) -> "ratelimit." + each).toArray(String[]::new))
			.run((context) -> StartFailure.assertRefused(context, "ratelimit." + property, rule));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.exclude=/api/health,/*/open/**",
			"ratelimit.exclude=GET /api/**,/{x}/logo.png", "ratelimit.policies.api.when=#request.secure",
			"ratelimit.policies.api.unless=#request.getHeader('X')?.startsWith('a') or #request.serverPort > 9000",
			"ratelimit.policies.api.when=#request.getAttribute('x')", "ratelimit.rejection.type=/problems/quota" })
	void startSucceedsWhenOptionsCanBe(String property) {
		this.runner.withPropertyValues("ratelimit.policies.api.paths=/api/**", property)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "OfPolicy, Policy", "OfIdentifiedPolicy, IdentifiedPolicy" })
	void policyThatIsABeanStopsTheStart(String configuration, String type, CapturedOutput output) {
		Class<?> application = configuration.equals("OfPolicy") ? OfPolicy.class : OfIdentifiedPolicy.class;
		assertThatException()
			.isThrownBy(() -> StarterRunners.application(application).web(WebApplicationType.NONE).run());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid bean 'search' of type %s: it has no effect, because policies are not beans."
				.formatted(type))
			.contains("Declare it in a RateLimitPoliciesCustomizer bean, below ratelimit.policies or in @RateLimited")
			.contains("PolicySource");
	}

	@Test
	void exclusionMayBeWrittenWithoutPathOfServlet() {
		this.runner
			.withPropertyValues("spring.mvc.servlet.path=/app", "ratelimit.policies.api.paths=/app/api/**",
					"ratelimit.policies.api.exclude=/api/health")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "policies.api.exclude, /x", "policies.api.when, #request.secure",
			"policies.api.unless, #request.secure", "exclude, /x", "policies.api.missing-identifier, skip",
			"defaults.missing-identifier, skip" })
	void startFailsWhenThereAreNoRequests(String property, String value) {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit." + property + "=" + value)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.hasMessageContaining("ratelimit." + property)
				.hasMessageContaining("in a Servlet web application"));
	}

	@Test
	void failureOfExclusionNamesElementOfList() {
		this.runner
			.withPropertyValues("ratelimit.policies.api.paths=/api/**", "ratelimit.policies.api.exclude[0]=/api/x",
					"ratelimit.policies.api.exclude[1]=/web")
			.run((context) -> assertThat(StartFailure.refusal(context).getName())
				.isEqualTo("ratelimit.policies.api.exclude[1]"));
	}

	@Configuration(proxyBeanMethods = false)
	static class OfPolicy {

		@Bean
		Policy search() {
			return Policy.of("search", new SlidingWindow(), Limit.parse("1/s"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfIdentifiedPolicy {

		@Bean
		IdentifiedPolicy search() {
			return new IdentifiedPolicy(Policy.of("search", new SlidingWindow(), Limit.parse("1/s")), List.of("ip"));
		}

	}

}
