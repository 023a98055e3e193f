package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.LimitHeaders;

import java.net.http.HttpResponse;
import java.util.Collection;
import java.util.Set;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.RejectionHandler;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application may replace: answers, headers, costs, and who is exempt.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  path: { paths: /path, limits: 10/m }
		  method: { limits: 10/m }
		""")
class RequestBeansIT {

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void costIsThatOfBean(String path) {
		HttpResponse<String> response = this.application.get(path, "X-Cost", "3");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().allValues("X-Left")).containsExactly("7");
		assertThat(this.application.get(path).headers().allValues("X-Left")).containsExactly("6");
		HttpResponse<String> free = this.application.get(path, "X-Cost", "0");
		assertThat(free.statusCode()).isEqualTo(200);
		assertThat(free.headers().map()).doesNotContainKey("x-left");
		assertThat(this.application.decisions()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "/path, 9223372036854775807, ever", "/method, 9223372036854775807, ever", "/path, 10, PT1M",
			"/method, 10, PT1M" })
	void answerAndHeadersOfDenialAreThoseOfBeans(String path, String cost, String wait) {
		this.application.get(path);
		HttpResponse<String> denied = this.application.get(path, "X-Cost", cost);
		assertThat(denied.statusCode()).isEqualTo(420);
		assertThat(denied.body()).isEqualTo("Calm down for " + wait);
		assertThat(denied.headers().allValues("X-Left")).containsExactly("9");
		assertThat(denied.headers().map()).doesNotContainKeys("ratelimit", "x-rate-limit-limit");
		assertThat(this.application.get(path).headers().allValues("X-Left")).containsExactly("8");
	}

	@Test
	void negativeCostFailsRequestAndDoesNotCount() {
		assertThat(this.application.get("/path", "X-Cost", "-1").statusCode()).isEqualTo(500);
		assertThat(this.application.decisions()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void exemptRequestIsNeitherCountedNorDenied(String path) {
		for (String header : new String[] { "X-Friend", "X-Probe" }) {
			HttpResponse<String> response = this.application.get(path, header, "yes", "X-Cost", "11");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().map()).doesNotContainKey("x-left");
		}
		assertThat(this.application.decisions()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void nothingOfAHandlerThatFailsIsLeft(String path) {
		this.application.get(path, "X-Cost", "10");
		HttpResponse<String> denied = this.application.get(path, "X-Fail", "yes");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("Cache-Control")).containsExactly("no-store");
		assertThat(denied.headers().allValues("X-Left")).containsExactly("0");
		assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(denied.headers().map()).doesNotContainKeys("x-given", "content-encoding", "set-cookie");
		assertThat(denied.body()).contains("#quota-exceeded").doesNotContain("Buy more");
	}

	static class Application extends TestApplication.WithMethod {

		@Bean
		static RequestCost cost() {
			return (request, policy, configured) -> {
				assertThat(policy).isEqualTo(request.getRequestURI().substring(1));
				String cost = request.getHeader("X-Cost");
				return (cost != null) ? Long.parseLong(cost) : configured;
			};
		}

		@Bean
		static RateLimitExemption friends() {
			return (request) -> request.getHeader("X-Friend") != null;
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
					throw new IllegalStateException("expected by this test");
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
