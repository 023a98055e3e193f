package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.RejectionHandler;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application may replace: answers, headers, costs, and who is exempt. Where a
 * bean of the application fails, each policy counts once or not at all, whatever the
 * error page reaches.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    path: { paths: /path, limits: 10/m }
		    method: { limits: 10/m }
		    all: { paths: [/api, /error], limits: 100/h }
		    api: { paths: /api, limits: 100/h, when: "#request.getHeader('X-Short').length() < 3" }
		    tenant: { paths: /api, limits: 100/h, identifiers: tenant }
		    user: { paths: [/api, /error], limits: 100/h, identifiers: [ip, user] }
		    error: { paths: /error, limits: 100/h, unless: "'exemption'.equals(#request.getHeader('X-Fail'))" }
		    planned: { paths: /api, limits: 100/h, plans.pro.limits: 50/h }
		""")
class RequestBeansIT extends WithApplication {

	private static final Identifier ANNA = Identifier.user("anna");

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void costIsThatOfBean(String path) {
		HttpResponse<String> response = get(200, path, "X-Cost", "3");
		assertThat(response.headers().allValues("X-Left")).containsExactly("7");
		assertThat(this.application.get(path).headers().allValues("X-Left")).containsExactly("6");
		for (String[] free : new String[][] { { "X-Cost", "0" }, { "X-Friend", "yes" }, { "X-Probe", "yes" } }) {
			HttpResponse<String> uncounted = get(200, path, free);
			assertThat(uncounted.headers().map()).doesNotContainKey("x-left");
		}
		assertThat(this.application.decisions()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "/path, 10, PT1M", "/method, 9223372036854775807, ever" })
	void answerAndHeadersOfDenialAreThoseOfBeans(String path, String cost, String wait) {
		this.application.get(path);
		HttpResponse<String> denied = get(420, path, "X-Cost", cost);
		assertThat(denied.body()).isEqualTo("Calm down for " + wait);
		assertThat(denied.headers().allValues("X-Left")).containsExactly("9");
		assertThat(denied.headers().map()).doesNotContainKeys("ratelimit", "x-rate-limit-limit");
		assertThat(this.application.get(path, "X-Cost", cost, "X-Friend", "yes").statusCode()).isEqualTo(200);
		assertThat(this.application.get(path).headers().allValues("X-Left")).containsExactly("8");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void nothingOfAHandlerThatFailsIsLeft(String path) {
		this.application.get(path, "X-Cost", "10");
		HttpResponse<String> denied = get(429, path, "X-Fail", "rejection");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("Cache-Control")).containsExactly("no-store");
		assertThat(denied.headers().allValues("X-Left")).containsExactly("0");
		assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(denied.headers().map()).doesNotContainKeys("x-given", "content-encoding", "set-cookie");
		assertThat(denied.body()).contains("#quota-exceeded").doesNotContain("Buy more");
	}

	@ParameterizedTest
	@CsvSource({ "none, false", "tenant, false", "plan, false", "none, true", "tenant, true", "plan, true",
			"cost:error, true" })
	void everyPolicyCountsOnceWhateverFails(String failing, boolean handlerFails) {
		HttpResponse<String> response = get(failing, "X-Throw", String.valueOf(handlerFails));
		assertThat(response.statusCode()).isEqualTo(handlerFails ? 500 : 200);
		assertUsed(1, "all", "api", "tenant", "user", "planned");
		assertUsed((handlerFails && !failing.equals("cost:error")) ? 1 : 0, "error");
		this.application.assertUsed("user", ANNA, 1);
	}

	/**
	 * A failing exemption would fail again, but is not asked where nothing is limited.
	 */
	@ParameterizedTest
	@CsvSource({ "cost:all, 1", "cost:api, 1", "cost:tenant, 1", "negative, 1", "exemption, 0" })
	void nothingCountsWhenCostOrExemptionFails(String failing, int errors) {
		assertErrorPage(get(failing));
		assertUsed(0, "all", "api", "tenant", "user", "planned");
		this.application.assertUsed("user", ANNA, 0);
		assertUsed(errors, "error");
	}

	@Test
	void whatWasCountedBeforeStaysCountedWhenCostFailsLater() {
		assertErrorPage(get("later"));
		assertUsed(1, "all", "api", "tenant", "user", "error");
		assertUsed(0, "planned");
		this.application.assertUsed("user", ANNA, 0);
	}

	private HttpResponse<String> get(String failing, String... more) {
		return this.application.get("/api",
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

	static class Application extends TestApplication.WithMethod {

		@GetMapping("/api")
		String get(HttpServletRequest request) {
			if ("true".equals(request.getHeader("X-Throw"))) {
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
				if ("negative".equals(request.getHeader("X-Fail")) && policy.equals("api")) {
					return -1;
				}
				String cost = request.getHeader("X-Cost");
				return (cost != null) ? Long.parseLong(cost) : configured;
			};
		}

		@Bean
		static RateLimitExemption friends() {
			return (request) -> {
				failIf(request, "exemption");
				return request.getHeader("X-Friend") != null;
			};
		}

		@Bean
		static RateLimitExemption probes() {
			return (request) -> request.getHeader("X-Probe") != null;
		}

		@Bean
		static RejectionHandler rejection() {
			return (rejection, request, response) -> {
				if (request.getHeader("X-Fail") != null) {
					rejection.problem().setDetail("Buy more");
					response.setContentType("text/plain;charset=iso-8859-1");
					response.setHeader("X-Given", "yes");
					response.setHeader("Retry-After", "90");
					response.setHeader("Content-Encoding", "br");
					response.addCookie(new Cookie("late", "yes"));
					response.addHeader("Cache-Control", "private");
					failIf(request, "rejection");
				}
				response.setStatus(420);
				response.getWriter()
					.write("Calm down for " + rejection.decision().retryAfter().map(Object::toString).orElse("ever"));
			};
		}

		@Bean
		static LimitHeaders headers() {
			return new LimitHeaders() {

				@Override
				public Set<String> names() {
					return Set.of("X-Left");
				}

				@Override
				public void write(Collection<LimitStatus> statuses, HttpServletResponse response) {
					response.setHeader("X-Left", "" + statuses.iterator().next().remaining());
				}

			};
		}

	}

}
