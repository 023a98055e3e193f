package io.github.ratelimit.spring.web;

import java.io.PrintWriter;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitPoliciesCustomizer;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletResponse;
import org.greenbytes.http.sfv.OuterList;
import org.greenbytes.http.sfv.Parametrizable;
import org.greenbytes.http.sfv.Parser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What clients of limited paths receive.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  policies:
		    api: { paths: /api, limits: [3/1500ms, 10/m] }
		    slow: { paths: /slow, limits: 1/1500ms }
		    never: { paths: /never, limits: 0/m }
		    one: { paths: /both, limits: 5/m }
		    two: { paths: [/both, /two], limits: 2/h }
		    shadow: { paths: /shadow, limits: 2/m, mode: shadow }
		    bytes: { paths: /upload, limits: 1000/m, unit: bytes }
		    tokens: { paths: /upload, limits: [10/1500ms, 100/m], unit: tokens }
		    '[a "quoted" \\ name, with; signs=1]': { paths: /odd, limits: 9007199254740991/d, algorithm: fixed-window }
		""")
class RateLimitWireIT {

	@Parameter
	TestApplication application;

	private static final int POLICIES = 30;

	private static final String ODD_NAME = "a \"quoted\" \\ name, with; signs=1";

	@Test
	void headersCountDown() {
		HttpResponse<String> first = this.application.get("/api");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.body()).isEqualTo("served");
		assertHeader(first, "RateLimit-Policy", "\"api/1500ms\";q=3, \"api/m\";q=10;w=60");
		assertHeader(first, "RateLimit", "\"api/1500ms\";r=2;t=2, \"api/m\";r=9;t=60");
		assertHeader(first, "X-Rate-Limit-Limit", "3");
		assertHeader(first, "X-Rate-Limit-Remaining", "2");
		assertHeader(first, "Retry-After", null);
		HttpResponse<String> second = this.application.get("/api");
		assertHeader(second, "RateLimit", "\"api/1500ms\";r=1;t=2, \"api/m\";r=8;t=60");
		assertHeader(second, "X-Rate-Limit-Remaining", "1");
		HttpResponse<String> third = this.application.get("/api");
		assertThat(third.statusCode()).isEqualTo(200);
		assertHeader(third, "X-Rate-Limit-Remaining", "0");
	}

	@Test
	void answerIsCompleteWhenRequestIsDenied() {
		this.application.get("/slow");
		HttpResponse<String> denied = this.application.get("/slow");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertHeader(denied, "Retry-After", "2");
		assertHeader(denied, "Cache-Control", "no-store");
		assertHeader(denied, "Content-Type", "application/problem+json");
		assertHeader(denied, "RateLimit-Policy", "\"slow\";q=1");
		assertHeader(denied, "RateLimit", "\"slow\";r=0;t=2");
		assertHeader(denied, "X-Rate-Limit-Limit", "1");
		assertHeader(denied, "X-Rate-Limit-Remaining", "0");
		JsonNode problem = JsonMapper.shared().readTree(denied.body());
		assertThat(problem.propertyNames()).containsExactly("type", "title", "status", "violated-policies");
		assertThat(problem.path("type").stringValue())
			.isEqualTo("https://iana.org/assignments/http-problem-types#quota-exceeded");
		assertThat(problem.path("title").stringValue())
			.isEqualTo("Request cannot be satisfied as assigned quota has been exceeded");
		assertThat(problem.path("status").intValue()).isEqualTo(429);
		assertThat(problem.path("violated-policies")).hasToString("[\"slow\"]");
	}

	@Test
	void retryAfterIsAtLeastOneSecond() {
		this.application.get("/slow");
		this.application.advance(Duration.ofMillis(1499));
		HttpResponse<String> denied = this.application.get("/slow");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertHeader(denied, "Retry-After", "1");
	}

	@Test
	void requestIsAllowedAgainAfterExactlyRetryAfter() {
		for (int i = 0; i < 2; i++) {
			this.application.get("/two");
		}
		HttpResponse<String> denied = this.application.get("/two");
		assertHeader(denied, "Retry-After", "3600");
		this.application.advance(Duration.ofSeconds(3600).minus(Duration.ofNanos(1000)));
		assertThat(this.application.get("/two").statusCode()).isEqualTo(429);
		this.application.advance(Duration.ofNanos(1000));
		assertThat(this.application.get("/two").statusCode()).isEqualTo(200);
	}

	@Test
	void thereIsNoRetryAfterWhenRequestNeverWillBeAllowed() {
		HttpResponse<String> denied = this.application.get("/never");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertHeader(denied, "Retry-After", null);
		assertHeader(denied, "RateLimit-Policy", "\"never\";q=0;w=60");
		assertHeader(denied, "RateLimit", "\"never\";r=0");
		assertThat(this.application.decisions()).isZero();
	}

	@Test
	void unitStandsInThePolicyWhenItIsNotRequests() {
		assertHeader(this.application.get("/upload"), "RateLimit-Policy",
				"\"bytes\";q=1000;qu=\"content-bytes\";w=60, \"tokens/1500ms\";q=10;qu=\"tokens\","
						+ " \"tokens/m\";q=100;qu=\"tokens\";w=60");
	}

	@Test
	void deniedCallKeepsNothingThatTellsOfTheContent() {
		assertThat(this.application.get("/begun").headers().map()).containsKeys("etag", "content-encoding", "x-begun");
		HttpResponse<String> denied = this.application.get("/begun");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().map())
			.doesNotContainKeys("content-encoding", "etag", "location", "last-modified", "content-language",
					"content-disposition", "content-range")
			.containsKeys("x-begun", "ratelimit", "retry-after");
	}

	@Test
	void denialReplacesWhatTheWriterHasBegun() {
		assertThat(this.application.get("/writer").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get("/writer");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/problem+json");
		assertThat(denied.body()).startsWith("{").contains("quota-exceeded");
	}

	@Test
	void bodyOfHeadIsEmptyWhenDenied() {
		this.application.send("HEAD", "/slow");
		HttpResponse<String> denied = this.application.send("HEAD", "/slow");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.body()).isEmpty();
		assertHeader(denied, "Retry-After", "2");
	}

	@Test
	void draftHeadersCanBeReadWhenPolicyHasOddNameAndHugeQuota() {
		HttpResponse<String> response = this.application.get("/odd");
		Parametrizable<?> policy = onlyItem(response, "RateLimit-Policy");
		assertThat(policy.get()).isEqualTo(ODD_NAME);
		assertThat(policy.getParams().get("q").get()).isEqualTo(999_999_999_999_999L);
		assertThat(policy.getParams().get("w").get()).isEqualTo(86_400L);
		Parametrizable<?> limit = onlyItem(response, "RateLimit");
		assertThat(limit.get()).isEqualTo(ODD_NAME);
		assertThat(limit.getParams().get("r").get()).isEqualTo(999_999_999_999_999L);
		assertHeader(response, "X-Rate-Limit-Limit", "9007199254740991");
	}

	private static Parametrizable<?> onlyItem(HttpResponse<String> response, String header) {
		OuterList list = Parser.parseList(response.headers().firstValue(header).orElseThrow());
		assertThat(list.get()).hasSize(1);
		return list.get().get(0);
	}

	@Test
	void policiesOfOnePathAreDecidedInOneCallAllOrNothing() {
		this.application.get("/both");
		assertThat(this.application.decisions()).isEqualTo(1);
		this.application.get("/both");
		for (int i = 0; i < 10; i++) {
			HttpResponse<String> denied = this.application.get("/both");
			assertThat(denied.statusCode()).isEqualTo(429);
			assertHeader(denied, "RateLimit", "\"one\";r=3;t=60, \"two\";r=0;t=3600");
			assertThat(JsonMapper.shared().readTree(denied.body()).path("violated-policies")).hasToString("[\"two\"]");
		}
		assertThat(this.application.decisions()).isEqualTo(12);
	}

	/** Servers answer with 500 if the headers of a response are too long. */
	@Test
	void draftHeadersAreLeftOutWhenManyPoliciesHaveLongNames() {
		for (int status : new int[] { 200, 200, 429, 429 }) {
			HttpResponse<String> response = this.application.get("/many");
			assertThat(response.statusCode()).isEqualTo(status);
			assertHeader(response, "RateLimit-Policy", null);
			assertHeader(response, "RateLimit", null);
			assertHeader(response, "X-Rate-Limit-Limit", "2");
			assertHeader(response, "Retry-After", (status == 429) ? "60" : null);
			assertThat(JsonMapper.shared().readTree((status == 429) ? response.body() : "{}").path("violated-policies"))
				.hasSize((status == 429) ? POLICIES : 0);
		}
		assertThat(this.application.decisions()).isEqualTo(4);
	}

	@Test
	void closestLimitStandsInSingleHeaders() {
		HttpResponse<String> response = this.application.get("/both");
		assertHeader(response, "X-Rate-Limit-Limit", "2");
		assertHeader(response, "X-Rate-Limit-Remaining", "1");
	}

	@Test
	void responseHasNoHeadersWhenNothingIsLimited() {
		HttpResponse<String> response = this.application.get("/free");
		assertThat(response.statusCode()).isEqualTo(200);
		assertHeader(response, "RateLimit", null);
		assertHeader(response, "X-Rate-Limit-Limit", null);
		assertThat(this.application.decisions()).isZero();
	}

	@Test
	void shadowCountsAndIsNotSeen() {
		for (int i = 0; i < 4; i++) {
			HttpResponse<String> response = this.application.get("/shadow");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().map()).doesNotContainKeys("ratelimit", "ratelimit-policy",
					"x-rate-limit-limit", "x-rate-limit-remaining", "retry-after");
		}
		this.application.assertUsed("shadow", 2);
	}

	private static void assertHeader(HttpResponse<String> response, String name, String value) {
		if (value != null) {
			assertThat(response.headers().allValues(name)).containsExactly(value);
		}
		else {
			assertThat(response.headers().allValues(name)).isEmpty();
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		private final ObjectProvider<Calls> calls;

		Application(ObjectProvider<Calls> calls) {
			this.calls = calls;
		}

		@GetMapping({ "/api", "/slow", "/never", "/odd", "/both", "/two", "/free", "/shadow", "/upload", "/many" })
		String get() {
			return "served";
		}

		@GetMapping("/begun")
		String begun(HttpServletResponse response) {
			for (String name : List.of("Content-Encoding", "ETag", "Location", "Last-Modified", "Content-Language",
					"Content-Disposition", "Content-Range", "X-Begun")) {
				response.setHeader(name, "begun");
			}
			return this.calls.getObject().call();
		}

		@GetMapping("/writer")
		void writer(PrintWriter writer) {
			writer.print("begun");
			this.calls.getObject().call();
		}

		@Bean
		static RateLimitPoliciesCustomizer manyPolicies() {
			return (policies) -> {
				for (int i = 0; i < POLICIES; i++) {
					policies.add("%0128d".formatted(i)).paths("/many").limits("2/m");
				}
			};
		}

		@Bean
		static Calls calls() {
			return new Calls();
		}

	}

	static class Calls {

		@RateLimited(limits = "1/m")
		public String call() {
			return "called";
		}

	}

}
