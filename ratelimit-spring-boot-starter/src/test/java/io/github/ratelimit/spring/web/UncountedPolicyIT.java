package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.stream.Stream;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
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
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Policies that count nothing, because nothing has their identifiers: the start stops, or
 * the log says so.
 */
@ExtendWith(OutputCaptureExtension.class)
class UncountedPolicyIT {

	private static final String TOO_LATE = "The policy 'api' has decided a request without its user";

	private static final String TOLD = "The policy 'api' does not count requests that have none of its identifiers";

	@ParameterizedTest
	@EnumSource
	void startFailsWhenPolicyCountsUsersWithoutLogin(Container container, CapturedOutput output) {
		for (String identifiers : new String[] { "user", "user,ip+user" }) {
			assertThatException().isThrownBy(() -> start(container, TestApplication.Served.class,
					"identifiers=" + identifiers, "missing-identifier=skip")
				.close());
			assertThat(output)
				.contains("Invalid value 'skip' for configuration property 'ratelimit.policies.api.missing-identifier'")
				.contains("Nothing would be counted: the policy is by [" + identifiers.replace(",", ", ")
						+ "], but there is neither Spring Security nor a filter of the application");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			user    | ip
			user    | deny
			ip,user | skip
			cookie:a | skip
			""")
	void applicationStartsWhenSomethingMayCount(String identifiers, String missing) {
		start(TestApplication.Served.class, "identifiers=" + identifiers,
				missing.equals("ip") ? "mode=enforce" : "missing-identifier=" + missing)
			.close();
	}

	@ParameterizedTest
	@EnumSource
	void policyIsLoggedOnceWhenFirstRequestHasNoIdentifier(Container container, CapturedOutput output) {
		try (TestApplication application = start(container, OwnLogin.class, "identifiers=user,header:X-Api-Key",
				"missing-identifier=skip")) {
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
		try (TestApplication application = start(OwnLogin.class, "identifiers=" + identifiers,
				"missing-identifier=skip")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
		assertThat(output).doesNotContain(TOLD);
	}

	@Test
	void policyIsLoggedWhenFilterWithUserRunsTooLate(CapturedOutput output) {
		try (TestApplication application = start(OwnLogin.class, "identifiers=user", "missing-identifier=skip",
				"test.order=0")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(output).contains(TOLD).contains("set it in a filter before those of the limiter");
	}

	@ParameterizedTest
	@EnumSource
	void policyIsLoggedOnceWhenLaterFilterSetsUser(Container container, CapturedOutput output) {
		try (TestApplication application = start(container, OwnLogin.class, "identifiers=user", "mode=enforce",
				"test.order=0")) {
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
			assertThat(output).doesNotContain(TOO_LATE);
			for (int i = 0; i < 2; i++) {
				assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
			}
			assertThat(application.get("/api", "X-User", "berta").statusCode()).isEqualTo(429);
		}
		assertThat(StringUtils.countOccurrencesOf(output.toString(), TOO_LATE)).isOne();
		assertThat(output).contains("give it an order below ratelimit.filter.after-login-order (-90)");
	}

	@ParameterizedTest
	@EnumSource
	void policyIsNotLoggedWhenHandlerSetsUser(Container container, CapturedOutput output) {
		try (TestApplication application = start(container, LoginHandler.class, "identifiers=user", "mode=enforce")) {
			assertThat(application.get("/api").body()).isEqualTo("anna");
		}
		assertThat(output).doesNotContain(TOO_LATE);
	}

	@Test
	void policyIsNotLoggedWhenItsUserIsKnownInTime(CapturedOutput output) {
		try (TestApplication application = start(OwnLogin.class, "identifiers=user", "mode=enforce")) {
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(output).doesNotContain(TOO_LATE);
	}

	@Test
	void scheduledMethodIsLoggedWhenItsIdentifierNeedsRequest(CapturedOutput output) {
		try (TestApplication application = start(Scheduling.class, "identifiers=ip", "mode=enforce",
				"ratelimit.policies.skipped.limits=1/s", "ratelimit.policies.skipped.identifiers=header:X",
				"ratelimit.policies.skipped.missing-identifier=skip")) {
			assertThat(application.bean(Jobs.class)).isNotNull();
		}
		assertThat(output).contains("Jobs.counted() is called by a scheduler, without a request")
			.contains("its policy 'Jobs.counted' by [ip] counts all such calls together, as global")
			.contains("its policy 'skipped' by [header:X] does not limit it")
			.doesNotContain("Jobs.right() is called");
	}

	private static TestApplication start(Class<?> configuration, String... properties) {
		return start(Container.TOMCAT, configuration, properties);
	}

	private static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return TestApplication.start(container, configuration,
				Stream.concat(Stream.of("paths=/api", "limits=3/m"), Stream.of(properties))
					.map((property) -> property.matches("(ratelimit|test)\\..*") ? property
							: "ratelimit.policies.api." + property)
					.toArray(String[]::new));
	}

	static class OwnLogin extends TestApplication.Served {

		@Bean
		FilterRegistrationBean<HeaderLogin> login(@Value("${test.order:-200}") int order) {
			return HeaderLogin.at(order);
		}

	}

	/** Its handler authenticates, as one that logs users in does. */
	@OpenApplication
	@RestController
	static class LoginHandler {

		@GetMapping("/api")
		String get(HttpServletRequest request) throws ServletException {
			request.login("anna", "secret");
			return request.getUserPrincipal().getName();
		}

		@Bean
		FilterRegistrationBean<?> login() {
			FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response,
					chain) -> chain.doFilter(new LoginRequest((HttpServletRequest) request), response));
			registration.setOrder(0);
			return registration;
		}

	}

	private static final class LoginRequest extends HttpServletRequestWrapper {

		private @Nullable Principal user;

		LoginRequest(HttpServletRequest request) {
			super(request);
		}

		@Override
		public void login(String user, String password) {
			this.user = () -> user;
		}

		@Override
		public @Nullable Principal getUserPrincipal() {
			return this.user;
		}

	}

	@EnableScheduling
	@Import(Jobs.class)
	static class Scheduling extends TestApplication.Served {

	}

	/** None of them runs while the test does. */
	static class Jobs {

		@Scheduled(initialDelay = 3_600_000)
		@RateLimited(limits = "1/m")
		void counted() {
		}

		@Scheduled(cron = "0 0 0 1 1 *", zone = "UTC")
		@Scheduled(initialDelay = 3_600_000)
		@RateLimited("skipped")
		void skipped() {
		}

		@Scheduled(initialDelay = 3_600_000)
		@RateLimited(limits = "1/m", identifiers = "global")
		void right() {
		}

	}

}
