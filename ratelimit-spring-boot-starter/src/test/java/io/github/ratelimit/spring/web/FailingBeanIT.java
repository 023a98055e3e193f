package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.RateLimitExemption;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests on a path of several policies, where a bean of the application fails: each
 * policy counts once or not at all, whatever the error page reaches.
 */
@StartApplication("""
		ratelimit:
		  filter.after-login-order: 10
		  plan-cache-ttl: 0
		  policies:
		    all: { paths: /**, limits: 100/h }
		    api: { paths: /api, limits: 100/h, when: "#request.getHeader('X-Short').length() < 3" }
		    tenant: { paths: /api, limits: 100/h, identifiers: tenant }
		    user: { paths: /**, limits: 100/h, identifiers: [ip, user] }
		    error: { paths: /error, limits: 100/h, unless: "'exemption'.equals(#request.getHeader('X-Fail'))" }
		    planned: { paths: /api, limits: 100/h, plans.pro.limits: 50/h }
		""")
class FailingBeanIT {

	private static final Identifier ANNA = Identifier.user("anna");

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@CsvSource({ "none, false", "tenant, false", "plan, false", "none, true", "tenant, true", "plan, true" })
	void everyPolicyCountsOnceWhenResolverOrConditionFails(String failing, boolean errorPage) {
		if (errorPage) {
			assertErrorPage(get("/api", failing, "X-Throw", "yes"));
		}
		else {
			assertThat(get("/api", failing).statusCode()).isEqualTo(200);
		}
		assertUsed(1, "all", "api", "tenant", "user", "planned");
		assertUsed(errorPage ? 1 : 0, "error");
		this.application.assertUsed("user", ANNA, 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "cost:all", "cost:api", "cost:tenant" })
	void nothingCountsWhenCostFails(String failing) {
		assertErrorPage(get("/api", failing));
		assertUsed(0, "all", "api", "tenant", "user", "planned");
		this.application.assertUsed("user", ANNA, 0);
		assertUsed(1, "error");
	}

	@Test
	void whatWasCountedBeforeStaysCountedWhenCostFailsLater() {
		assertErrorPage(get("/api", "later"));
		assertUsed(1, "all", "api", "tenant", "user", "error");
		assertUsed(0, "planned");
		this.application.assertUsed("user", ANNA, 0);
	}

	/** The exemption would fail again, but is not asked where nothing is limited. */
	@Test
	void nothingCountsWhenExemptionFails() {
		assertErrorPage(get("/api", "exemption"));
		assertUsed(0, "all", "api", "tenant", "user", "planned", "error");
		this.application.assertUsed("user", ANNA, 0);
	}

	@Test
	void requestStaysCountedWhenOnlyItsErrorPageFails() {
		assertThat(get("/api", "cost:error", "X-Throw", "yes").statusCode()).isEqualTo(500);
		assertUsed(1, "all", "api", "tenant", "user", "planned");
		this.application.assertUsed("user", ANNA, 1);
	}

	private HttpResponse<String> get(String path, String failing, String... more) {
		return this.application.get(path,
				Stream.concat(Stream.of("X-Fail", failing, "X-User", "anna"), Stream.of(more)).toArray(String[]::new));
	}

	private static void assertErrorPage(HttpResponse<String> response) {
		assertThat(response.statusCode()).isEqualTo(500);
		assertThat(response.body()).contains("\"path\":\"/api\"");
	}

	private void assertUsed(long used, String... policies) {
		List.of(policies).forEach((policy) -> this.application.assertUsed(policy, used));
	}

	private static void failIf(HttpServletRequest request, String bean) {
		if (bean.equals(request.getHeader("X-Fail"))) {
			throw new IllegalStateException("expected by this test");
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api")
		String get(HttpServletRequest request) {
			if (request.getHeader("X-Throw") != null) {
				throw new IllegalStateException("expected by this test");
			}
			return "served";
		}

		@Bean
		static IdentifierResolver tenant() {
			return (request) -> {
				failIf(request, "tenant");
				return null;
			};
		}

		@Bean
		static PlanResolver plans() {
			return (user, request) -> {
				failIf(request, "plan");
				return null;
			};
		}

		@Bean
		static RequestCost cost() {
			return (request, policy, configured) -> {
				failIf(request, "cost:" + policy);
				if (request.getUserPrincipal() != null) {
					failIf(request, "later");
				}
				return configured;
			};
		}

		@Bean
		static RateLimitExemption exemption() {
			return (request) -> {
				failIf(request, "exemption");
				return false;
			};
		}

		@Bean
		FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(0);
		}

	}

}
