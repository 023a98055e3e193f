package io.github.ratelimit.spring.web;

import java.util.Arrays;
import java.util.stream.Stream;

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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.annotation.RequestScope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Policies that count nothing, because nothing has their identifiers: the start stops
 * where nobody can log in, and otherwise the log says so. Of a property, {@code @} stands
 * for the policy.
 */
@ExtendWith(OutputCaptureExtension.class)
class UncountedPolicyIT {

	private static final String TOLD = "The policy 'api' does not count requests that have none of its identifiers";

	private static final String UNTOLD = "The policy 'api' does not count what Spring Security or another filter answers with 401, because there is no user yet. ";

	/**
	 * A filter of Tomcat is no login, or the address of a client would be taken for one.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			TOMCAT | OwnIdentifiers    | expression           | the policy is by [expression]
			JETTY  | OwnIdentifiers    | bean                 | the policy is by [bean]
			TOMCAT | OwnIdentifiers    | ip+expression, user  | the policy is by [ip+expression, user]
			TOMCAT | Served            | user                 | the policy is by [user]
			JETTY  | Served            | user, ip+user        | the policy is by [user, ip+user]
			TOMCAT | ServedBehindProxy | user                 | the policy is by [user]
			TOMCAT | LimitedHandler    |                      | @RateLimited on LimitedHandler.limited is by [user]
			""")
	void startFailsWhenIdentifierNeedsUserWithoutLogin(Container container, String configuration, String identifiers,
			String by, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(container, type(configuration), "@.missing-identifier=skip",
				(identifiers != null) ? "@.paths=/api" : "@.mode=enforce",
				(identifiers != null) ? "@.identifiers=" + identifiers : "@.mode=enforce",
				"ratelimit.identifiers.expression=#principal.name")
			.close());
		assertThat(output)
			.contains("Invalid value 'skip' for configuration property 'ratelimit.policies.api.missing-identifier'")
			.contains("Nothing would be counted: " + by
					+ ", but there is neither Spring Security nor a filter of the application");
	}

	@Test
	void startFailsWhenPolicyOfHandlerNeedsLogin(CapturedOutput output) {
		assertThatException()
			.isThrownBy(() -> start(DeclaringHandler.class, "ratelimit.defaults.missing-identifier=skip").close());
		assertThat(output)
			.contains("Invalid value 'skip' for configuration property 'ratelimit.defaults.missing-identifier'")
			.contains("Nothing would be counted: @RateLimited on DeclaringHandler.limited is by [user]");
	}

	/**
	 * Other methods may be called outside of a request, where the thread has the user.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					Served         | @.paths=/api; @.identifiers=user
					Served         | @.paths=/api; @.identifiers=user; @.missing-identifier=deny
					Served         | @.paths=/api; @.identifiers=ip,user; @.missing-identifier=skip
					Served         | @.paths=/api; @.identifiers=cookie:a; @.missing-identifier=skip
					OwnIdentifiers | @.paths=/api; @.identifiers=scoped; @.missing-identifier=skip
					OwnIdentifiers | @.paths=/api; @.identifiers=a; @.missing-identifier=skip; ratelimit.identifiers.a=#principal?.name ?: 'nobody'
					OwnIdentifiers | @.paths=/api; @.identifiers=a; @.missing-identifier=skip; ratelimit.identifiers.a=#principal eq null ? 'a' : 'b'
					OwnIdentifiers | @.paths=/api; @.identifiers=a; @.missing-identifier=skip; ratelimit.identifiers.a=#request.remoteUser ?: #request.method
					LimitedService           | @.missing-identifier=skip
					LimitedHandlerWithLogin  | @.missing-identifier=skip
					LimitedByHeader          | @.missing-identifier=skip
					LimitedHandlerWithSource | @.missing-identifier=skip
					""")
	void applicationStartsWhenSomethingMayCount(String configuration, String properties) {
		start(type(configuration), properties.split("; ")).close();
	}

	/** What refuses a login answers before there is a user. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-",
			textBlock = """
					user       | status in [401]      | Add ip to ratelimit.policies.api.identifiers
					user,bean  | status in [ 401 ]    | Add ip to ratelimit.policies.api.identifiers
					ip,user    | status in [401]      | -
					user       | status in [401, 403] | -
					header:X   | status in [401]      | -
					ip         | status in [401]; @.plans.pro.limits=9/m; ratelimit.plan='pro' | Count that by a second policy, which has no plans
					""")
	void startTellsOfPolicyThatCountsNoFailedLogins(String identifiers, String countWhen, @Nullable String told,
			CapturedOutput output) {
		start(WithLogin.class,
				("@.paths=/api; @.identifiers=" + identifiers + "; @.count-when=" + countWhen).split("; "))
			.close();
		if (told != null) {
			assertThat(output).contains(UNTOLD + told);
		}
		else {
			assertThat(output).doesNotContain(UNTOLD);
		}
	}

	@ParameterizedTest
	@EnumSource
	void policyIsLoggedOnceWhenFirstRequestHasNoIdentifier(Container container, CapturedOutput output) {
		try (TestApplication application = start(container, WithLogin.class, "@.paths=/api",
				"@.identifiers=user,header:X-Api-Key", "@.missing-identifier=skip")) {
			assertThat(output).doesNotContain(TOLD);
			for (int i = 0; i < 3; i++) {
				assertThat(application.get("/api", "X-Api-Key", "").statusCode()).isEqualTo(200);
			}
		}
		assertThat(StringUtils.countOccurrencesOf(output.toString(), TOLD)).isOne();
		assertThat(output).contains("[user, header:X-Api-Key]")
			.contains("set ratelimit.policies.api.missing-identifier to ip or global");
	}

	@ParameterizedTest
	@ValueSource(strings = { "user,header:X-Api-Key", "user" })
	void policyIsNotLoggedWhenFirstRequestIsCounted(String identifiers, CapturedOutput output) {
		try (TestApplication application = start(WithLogin.class, "@.paths=/api", "@.identifiers=" + identifiers,
				"@.missing-identifier=skip")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
		assertThat(output).doesNotContain(TOLD);
	}

	@Test
	void policyIsLoggedWhenFilterWithUserRunsTooLate(CapturedOutput output) {
		try (TestApplication application = start(WithLogin.class, "@.paths=/api", "@.identifiers=user",
				"@.missing-identifier=skip", "test.order=0")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(output).contains(TOLD).contains("set it in a filter before those of the limiter");
	}

	private static TestApplication start(Class<?> configuration, String... properties) {
		return start(Container.TOMCAT, configuration, properties);
	}

	private static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return TestApplication.start(container, configuration,
				Stream.concat(Stream.of("@.limits=3/m"), Stream.of(properties))
					.map((property) -> property.replace("@", "ratelimit.policies.api"))
					.toArray(String[]::new));
	}

	private static Class<?> type(String name) {
		return Arrays.stream(UncountedPolicyIT.class.getDeclaredClasses())
			.filter((type) -> type.getSimpleName().equals(name))
			.findAny()
			.orElseThrow();
	}

	static class Served extends TestApplication.Served {

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
		FilterRegistrationBean<HeaderLogin> login(@Value("${test.order:-200}") int order) {
			return HeaderLogin.at(order);
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
