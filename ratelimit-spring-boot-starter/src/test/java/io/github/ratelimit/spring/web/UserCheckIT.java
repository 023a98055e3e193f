package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.catalina.filters.RemoteIpFilter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.annotation.RequestScope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Policies by identifiers that no request has stop the start, because nobody can log in.
 */
@ExtendWith(OutputCaptureExtension.class)
class UserCheckIT {

	private static final String UNTOLD = "The policy 'api' does not count what Spring Security or another filter answers with 401, because there is no user yet. ";

	private static final String PATH = "ratelimit.policies.api: { paths: /api, limits: 3/m, missing-identifier: skip, identifiers: [%s] }";

	private static final String LIMITED = "ratelimit.policies.api: { limits: 3/m, missing-identifier: skip }";

	/**
	 * A filter of Tomcat is no login, or the address of a client would be taken for one.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			TOMCAT | OwnIdentifiers    | expression           | the policy is by [expression]
			JETTY  | OwnIdentifiers    | bean                 | the policy is by [bean]
			TOMCAT | OwnIdentifiers    | ip+expression, user  | the policy is by [ip+expression, user]
			TOMCAT | ServedBehindProxy | user                 | the policy is by [user]
			TOMCAT | LimitedHandler    |                      | @RateLimited on LimitedHandler.limited is by [user]
			""")
	void startFailsWhenIdentifierNeedsUserWithoutLogin(Container container, String configuration, String identifiers,
			String by, CapturedOutput output) throws ClassNotFoundException {
		Class<?> type = Class.forName(UserCheckIT.class.getName() + '$' + configuration);
		assertThatException().isThrownBy(
				() -> TestApplication
					.start(container, type, (identifiers != null) ? PATH.formatted(identifiers) : LIMITED,
							"ratelimit.identifiers.expression: '#principal.name'")
					.close());
		assertThat(output)
			.contains("Invalid value 'skip' for configuration property 'ratelimit.policies.api.missing-identifier'")
			.contains("Nothing would be counted: " + by + ", but there is neither Spring Security");
	}

	@Test
	void startFailsWhenPolicyOfHandlerNeedsLogin(CapturedOutput output) {
		assertThatException().isThrownBy(
				() -> TestApplication.start(DeclaringHandler.class, "ratelimit.defaults.missing-identifier=skip")
					.close());
		assertThat(output)
			.contains("Invalid value 'skip' for configuration property 'ratelimit.defaults.missing-identifier'")
			.contains("Nothing would be counted: @RateLimited on DeclaringHandler.limited is by [user]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#principal?.name ?: 'nobody'", "#principal eq null ? 'a' : 'b'",
			"#request.remoteUser ?: #request.method", "#request.method" })
	void applicationStartsWhenExpressionHasValueWithoutUser(String expression) {
		TestApplication
			.start(OwnIdentifiers.class, PATH.formatted("expression"), "ratelimit.identifiers.expression=" + expression)
			.close();
	}

	@Test
	void applicationStartsWhenIdentifierIsBeanOfARequest() {
		TestApplication.start(OwnIdentifiers.class, PATH.formatted("scoped")).close();
	}

	/**
	 * Other methods may be called outside of a request, where the thread has the user.
	 */
	@ParameterizedTest
	@ValueSource(classes = { LimitedService.class, LimitedHandlerWithLogin.class, LimitedByHeader.class,
			LimitedHandlerWithSource.class })
	void applicationStartsWhenAnnotatedMethodMayCount(Class<?> configuration) {
		TestApplication.start(configuration, LIMITED).close();
	}

	/** What refuses a login answers before there is a user. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "user | status in [401] | true", "user,bean | status in [ 401 ] | true",
					"ip,user | status in [401] | false", "user | status in [401, 403] | false",
					"header:X | status in [401] | false" })
	void startTellsOfPolicyThatCountsNoFailedLogins(String identifiers, String countWhen, boolean told,
			CapturedOutput output) {
		TestApplication.start(WithLogin.class, "ratelimit.policies.api: { paths: /api, limits: 3/m }",
				"ratelimit.policies.api.count-when=" + countWhen, "ratelimit.policies.api.identifiers=" + identifiers)
			.close();
		assertThat(output.getAll().contains(UNTOLD + "Add ip to ratelimit.policies.api.identifiers")).isEqualTo(told);
	}

	@Test
	void startTellsOfPolicyWithPlansThatCountsNoFailedLogins(CapturedOutput output) {
		TestApplication
			.start(WithLogin.class,
					"""
							ratelimit.plan: "'pro'"
							ratelimit.policies.api: { paths: /api, limits: 3/m, count-when: 'status in [401]', plans.pro.limits: 9/m }
							""")
			.close();
		assertThat(output).contains(UNTOLD + "Count that by a second policy, which has no plans");
	}

	static class OwnIdentifiers extends TestApplication.Served {

		@Bean
		@RequestScope
		IdentifierResolver scoped() {
			return bean();
		}

		@Bean
		IdentifierResolver bean() {
			return new IdentifierResolver() {

				@Override
				public @Nullable String resolve(HttpServletRequest request) {
					return request.getRemoteUser();
				}

				@Override
				public boolean needsUser() {
					return true;
				}

			};
		}

	}

	static class WithLogin extends OwnIdentifiers {

		@Bean
		FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(-100);
		}

	}

	static class ServedBehindProxy extends TestApplication.Served {

		@Bean
		FilterRegistrationBean<RemoteIpFilter> proxies() {
			return new FilterRegistrationBean<>(new RemoteIpFilter());
		}

	}

	@OpenApplication
	@RestController
	static class LimitedHandler {

		@GetMapping("/limited")
		@RateLimited(policy = "api", identifiers = "user")
		String limited() {
			return "served";
		}

	}

	@OpenApplication
	@RestController
	static class DeclaringHandler {

		@GetMapping("/limited")
		@RateLimited(limits = "1/m", identifiers = "user")
		String limited() {
			return "served";
		}

	}

	@OpenApplication
	@RestController
	static class LimitedByHeader {

		@GetMapping("/limited")
		@RateLimited(policy = "api", identifiers = "header:X")
		String limited() {
			return "served";
		}

		@GetMapping("/both")
		@RateLimited(policy = "api", identifiers = { "user", "ip" })
		String both() {
			return "served";
		}

	}

	static class LimitedHandlerWithLogin extends LimitedHandler {

		@Bean
		FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(-200);
		}

	}

	static class LimitedHandlerWithSource extends LimitedHandler {

		@Bean
		PolicySource policySource() {
			return (policy, caller) -> policy;
		}

	}

	static class LimitedService extends TestApplication.Served {

		@RateLimited(policy = "api", identifiers = "user")
		public void limited() {
		}

	}

}
