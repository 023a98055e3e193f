package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.security.Principal;

import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.StringUtils;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Policies that count nothing, because nothing has their identifiers: the start stops, or
 * the log says so.
 */
@ExtendWith(OutputCaptureExtension.class)
class UncountedPolicyIT {

	private static final String TOLD = "The policy 'api' does not count requests that have none of its identifiers";

	@ParameterizedTest
	@ValueSource(classes = { TestApplication.Served.class, TestApplication.ServedOnJetty.class })
	void startFailsWhenPolicyCountsUsersWithoutLogin(Class<?> configuration, CapturedOutput output) {
		for (String identifiers : new String[] { "user", "user,ip+user" }) {
			assertThatException().isThrownBy(
					() -> start(configuration, "identifiers=" + identifiers, "missing-identifier=skip").close());
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
	@ValueSource(classes = { OwnLogin.class, OwnLoginOnJetty.class })
	void policyIsLoggedOnceWhenFirstRequestHasNoIdentifier(Class<?> configuration, CapturedOutput output) {
		try (TestApplication application = start(configuration, "identifiers=user,header:X-Api-Key",
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
			assertThat(application.get("/api", "X-Login", "anna").statusCode()).isEqualTo(200);
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
		assertThat(output).doesNotContain(TOLD);
	}

	@Test
	void policyIsLoggedWhenFilterWithUserRunsTooLate(CapturedOutput output) {
		try (TestApplication application = start(OwnLogin.class, "identifiers=user", "missing-identifier=skip",
				"test.order=0")) {
			assertThat(application.get("/api", "X-Login", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(output).contains(TOLD).contains("set it in a filter before those of the limiter");
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
		String[] all = new String[properties.length + 2];
		all[0] = "ratelimit.policies.api.paths=/api";
		all[1] = "ratelimit.policies.api.limits=3/m";
		for (int i = 0; i < properties.length; i++) {
			all[i + 2] = properties[i].matches("(ratelimit|test)\\..*") ? properties[i]
					: "ratelimit.policies.api." + properties[i];
		}
		return TestApplication.start(configuration, all);
	}

	@Configuration(proxyBeanMethods = false)
	@Import(TestApplication.Served.class)
	static class OwnLogin {

		@Bean
		FilterRegistrationBean<OncePerRequestFilter> login(@Value("${test.order:-200}") int order) {
			FilterRegistrationBean<OncePerRequestFilter> registration = new FilterRegistrationBean<>(new Login());
			registration.setOrder(order);
			return registration;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TestApplication.ServedOnJetty.class, OwnLogin.class })
	static class OwnLoginOnJetty {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@Import({ TestApplication.Served.class, Jobs.class })
	static class Scheduling {

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

	private static final class Login extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String name = request.getHeader("X-Login");
			chain.doFilter(new HttpServletRequestWrapper(request) {

				@Override
				public Principal getUserPrincipal() {
					return (name != null) ? () -> name : null;
				}

			}, response);
		}

	}

}
