package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests while the store is gone: they are free if they cost nothing, and otherwise
 * answered as their policy says for their caller.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, ownLimiter = true, value = """
		ratelimit:
		  redis.url: redis://127.0.0.1:1
		  policies:
		    path: { paths: /path, limits: 1/h, cost: 0, on-store-failure: deny }
		    route: { routes: [{ paths: /route/free, cost: 0 }, { paths: /route/paid }], limits: 1/h,
		      on-store-failure: deny }
		    bean: { paths: '/bean/{cost}', limits: 1/h, on-store-failure: deny }
		    keyed: { paths: /keyed, limits: 1/h, cost: 0, identifiers: header:X-Key, missing-identifier: deny }
		    method: { limits: 1/h, on-store-failure: deny }
		    closed: { paths: /closed, limits: 0/s, on-store-failure: allow }
		""")
class FreeRequestIT {

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@CsvSource({ "/path, 200", "/route/free, 200", "/bean/0, 200", "/bean/1, 503", "/keyed, 200", "/method/0, 200",
			"/method, 200" })
	void costOfNothingAsksNobody(String path, int status) {
		assertThat(this.application.get(path).statusCode()).isEqualTo(status);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/route/paid", "/method/1" })
	void requestThatCostsIsAnsweredWithoutLimits(String path) {
		HttpResponse<String> denied = this.application.get(path);
		assertThat(denied.statusCode()).isEqualTo(503);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
		assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(denied.headers().map()).doesNotContainKeys("ratelimit", "ratelimit-policy");
		assertThat(denied.body()).contains("#temporary-reduced-capacity");
	}

	@Test
	void closedPolicyDeniesWithoutTheStore() {
		HttpResponse<String> denied = this.application.get("/closed");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().map()).doesNotContainKey("retry-after");
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping({ "/path", "/route/*", "/bean/*", "/keyed", "/closed" })
		String get() {
			return "served";
		}

		@GetMapping("/method/{cost}")
		@RateLimited(policy = "method", costExpression = "#cost")
		String byExpression(@PathVariable int cost) {
			return "served";
		}

		@GetMapping("/method")
		@RateLimited(policy = "method", cost = 0)
		String method() {
			return "served";
		}

		@Bean
		static RequestCost requestCost() {
			return (request, policy, configured) -> policy.equals("bean")
					? Long.parseLong(request.getRequestURI().substring("/bean/".length())) : configured;
		}

	}

}
