package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What clients of limited paths receive. Where methods are limited too, of handlers or of
 * filters before the limiter and before the login, path and method pay apart.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    api: { paths: /api, limits: [3/1500ms, 10/m] }
		    slow: { paths: /slow, limits: 1/1500ms }
		    both: { paths: /both/**, limits: 5/m }
		    same: { paths: /same, limits: 10/m, plans.pro.limits: 20/m }
		    settled: { paths: /settled, limits: 10/m, plans.pro.limits: 20/2m }
		    tokens: { paths: /upload, limits: [10/1500ms, 100/m], unit: tokens }
		    '[a "quoted" \\ name, with; signs=1]': { paths: /odd, limits: 9/d }
		""")
class RateLimitWireIT extends WithApplication {

	@Test
	void headersCountDown() {
		HttpResponse<String> first = get(200, "/api");
		assertThat(first.body()).isEqualTo("served");
		assertHeader(first, "RateLimit-Policy", "\"api/1500ms\";q=3, \"api/m\";q=10;w=60");
		assertHeader(first, "RateLimit", "\"api/1500ms\";r=2;t=2, \"api/m\";r=9;t=60");
		assertHeader(first, "X-Rate-Limit-Limit", "3");
		assertHeader(first, "X-Rate-Limit-Remaining", "2");
		assertHeader(first, "Retry-After");
		HttpResponse<String> second = this.application.get("/api");
		assertHeader(second, "RateLimit", "\"api/1500ms\";r=1;t=2, \"api/m\";r=8;t=60");
		assertHeader(second, "X-Rate-Limit-Remaining", "1");
	}

	@Test
	void answerIsCompleteWhenRequestIsDenied() {
		this.application.get("/slow");
		HttpResponse<String> denied = get(429, "/slow");
		assertHeader(denied, "Retry-After", "2");
		assertHeader(denied, "Cache-Control", "no-store");
		assertHeader(denied, "Content-Type", "application/problem+json");
		assertHeader(denied, "RateLimit-Policy", "\"slow\";q=1");
		assertHeader(denied, "RateLimit", "\"slow\";r=0;t=2");
		assertHeader(denied, "X-Rate-Limit-Limit", "1");
		assertHeader(denied, "X-Rate-Limit-Remaining", "0");
		assertThat(denied.body()).isEqualTo("""
				{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",\
				"title":"Request cannot be satisfied as assigned quota has been exceeded",\
				"status":429,"violated-policies":["slow"]}""");
		HttpResponse<String> head = this.application.send("HEAD", "/slow");
		assertThat(head.statusCode()).isEqualTo(429);
		assertThat(head.body()).isEmpty();
		assertHeader(head, "Retry-After", "2");
	}

	@Test
	void unitStandsInThePolicyWhenItIsNotRequests() {
		assertHeader(this.application.get("/upload"), "RateLimit-Policy",
				"\"tokens/1500ms\";q=10;qu=\"tokens\", \"tokens/m\";q=100;qu=\"tokens\";w=60");
	}

	@Test
	void oddNameIsQuoted() {
		assertHeader(this.application.get("/odd"), "RateLimit",
				"\"a \\\"quoted\\\" \\\\ name, with; signs=1\";r=8;t=86400");
	}

	@Test
	void denialReplacesWhatHandlerHasBegunToAnswer() {
		assertThat(this.application.get("/begun").headers().map()).containsKeys("etag", "content-encoding", "x-begun");
		HttpResponse<String> denied = get(429, "/begun");
		assertThat(denied.headers().map())
			.doesNotContainKeys("content-encoding", "etag", "location", "last-modified", "content-language",
					"content-disposition", "content-range")
			.containsKeys("x-begun", "ratelimit", "retry-after");
		assertThat(denied.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/problem+json");
		assertThat(denied.body()).startsWith("{").contains("quota-exceeded");
	}

	@Test
	void pathAndMethodPayEachTheirCost() {
		assertHeader(get(200, "/both/heavy"), "RateLimit", "\"both\";r=1;t=60");
		this.application.assertUsed("both", 1 + 3);
		HttpResponse<String> denied = get(429, "/both/heavy");
		assertHeader(denied, "Retry-After", "60");
		assertHeader(denied, "RateLimit", "\"both\";r=0;t=60");
		this.application.assertUsed("both", 4 + 1);
	}

	@Test
	void callOfFilterStaysPaidWhenThePathIsDenied() {
		assertThat(this.application.statuses(4, "/both/light")).containsOnly(200);
		get(429, "/both/light", "X-Call", "both");
		this.application.assertUsed("both", 5);
	}

	/** What is left without a plan, as before the login, and with that of the user. */
	@ParameterizedTest
	@CsvSource({ "same, 8, 18", "settled, 5, 15" })
	void callBeforeLoginSharesCountOfSameWindows(String name, long withoutPlan, long ofPlan) {
		get(200, "/" + name, "X-User", "anna", "X-Call", name);
		IdentifiedPolicy policy = this.application.bean(ConfiguredPolicies.class).find(name).orElseThrow();
		await().untilAsserted(() -> {
			assertThat(left(policy.policy())).isEqualTo(withoutPlan);
			assertThat(left(policy.forPlan("pro").orElseThrow().policy())).isEqualTo(ofPlan);
		});
	}

	private long left(Policy policy) {
		return this.application.bean(RateLimiter.class)
			.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1")))
			.statuses()
			.get(0)
			.remaining();
	}

	private static void assertHeader(HttpResponse<String> response, String name, String... values) {
		assertThat(response.headers().allValues(name)).containsExactly(values);
	}

	@Import({ Limited.class, Handlers.class })
	static class Application extends TestApplication.Served {

		@Bean
		PlanResolver planResolver() {
			return (user, request) -> "pro";
		}

		/** Calls the limited method that the header X-Call names. */
		@Bean
		static FilterRegistrationBean<Filter> earlyFilter(Limited limited) {
			return TestApplication.filterAt(Ordered.HIGHEST_PRECEDENCE + 1000, (request, response, chain) -> {
				switch (String.valueOf(((HttpServletRequest) request).getHeader("X-Call"))) {
					case "both" -> limited.both();
					case "same" -> limited.same();
					case "settled" -> limited.settled();
					default -> {
					}
				}
				chain.doFilter(request, response);
			});
		}

	}

	static class Limited {

		@RateLimited(limits = "1/m")
		public void once() {
		}

		@RateLimited("both")
		public void both() {
		}

		@RateLimited("same")
		public void same() {
		}

		@RateLimited("settled")
		public void settled() {
		}

	}

	@RestController
	static class Handlers {

		private final Limited limited;

		Handlers(Limited limited) {
			this.limited = limited;
		}

		@GetMapping("/begun")
		void begun(HttpServletResponse response) throws IOException {
			for (String name : List.of("Content-Encoding", "ETag", "Location", "Last-Modified", "Content-Language",
					"Content-Disposition", "Content-Range", "X-Begun")) {
				response.setHeader(name, "begun");
			}
			response.getWriter().print("begun");
			this.limited.once();
		}

		@GetMapping("/settled")
		String settled(HttpServletRequest request) {
			CostSettlement.of(request).settle("settled", 5);
			return "served";
		}

		@GetMapping("/both/heavy")
		@RateLimited(policy = "both", cost = 3)
		String heavy() {
			return "served";
		}

	}

}
