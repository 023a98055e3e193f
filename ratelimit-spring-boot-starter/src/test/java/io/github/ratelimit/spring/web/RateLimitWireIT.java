package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

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
		    one: { paths: /both, limits: 5/m }
		    two: { paths: /both, limits: 2/h }
		    seen: { paths: /tried, limits: 2/m }
		    tried: { paths: /tried, limits: 1/m, mode: shadow }
		    tokens: { paths: /upload, limits: [10/1500ms, 100/m], unit: tokens }
		    '[a "quoted" \\ name, with; signs=1]': { paths: /odd, limits: 9/d }
		""")
class RateLimitWireIT {

	@Parameter
	TestApplication application;

	@Test
	void headersCountDown() {
		HttpResponse<String> first = this.application.get("/api");
		assertThat(first.statusCode()).isEqualTo(200);
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
		HttpResponse<String> denied = this.application.get("/slow");
		assertThat(denied.statusCode()).isEqualTo(429);
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
		HttpResponse<String> denied = this.application.get("/begun");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().map())
			.doesNotContainKeys("content-encoding", "etag", "location", "last-modified", "content-language",
					"content-disposition", "content-range")
			.containsKeys("x-begun", "ratelimit", "retry-after");
		assertThat(denied.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/problem+json");
		assertThat(denied.body()).startsWith("{").contains("quota-exceeded");
	}

	@Test
	void policiesOfOnePathAreDecidedAllOrNothing() {
		assertThat(this.application.statuses(2, "/both")).containsOnly(200);
		for (int i = 0; i < 2; i++) {
			HttpResponse<String> denied = this.application.get("/both");
			assertHeader(denied, "RateLimit", "\"one\";r=3;t=60, \"two\";r=0;t=3600");
			assertHeader(denied, "X-Rate-Limit-Limit", "2");
			assertThat(denied.body()).contains("\"violated-policies\":[\"two\"]");
		}
		assertThat(this.application.decisions()).isEqualTo(4);
	}

	@Test
	void responseHasNoHeadersWhenNothingIsLimited() {
		HttpResponse<String> response = this.application.get("/free");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().map()).doesNotContainKeys("ratelimit", "x-rate-limit-limit");
		assertThat(this.application.decisions()).isZero();
	}

	/** A policy in shadow mode on the path of an enforced one. */
	@Test
	void headersTellNothingOfPolicyInShadow() {
		for (int left = 1; left >= 0; left--) {
			HttpResponse<String> response = this.application.get("/tried");
			assertThat(response.statusCode()).isEqualTo(200);
			assertHeader(response, "RateLimit", "\"seen\";r=%d;t=60".formatted(left));
		}
		assertThat(this.application.get("/tried").body()).contains("\"violated-policies\":[\"seen\"]");
		assertThat(this.application.decisions()).isEqualTo(3);
	}

	private static void assertHeader(HttpResponse<String> response, String name, String... values) {
		assertThat(response.headers().allValues(name)).containsExactly(values);
	}

	@OpenApplication
	@RestController
	static class Application {

		private final ObjectProvider<Calls> calls;

		Application(ObjectProvider<Calls> calls) {
			this.calls = calls;
		}

		@GetMapping({ "/api", "/slow", "/odd", "/both", "/free", "/tried", "/upload" })
		String get() {
			return "served";
		}

		@GetMapping("/begun")
		void begun(HttpServletResponse response) throws IOException {
			for (String name : List.of("Content-Encoding", "ETag", "Location", "Last-Modified", "Content-Language",
					"Content-Disposition", "Content-Range", "X-Begun")) {
				response.setHeader(name, "begun");
			}
			response.getWriter().print("begun");
			this.calls.getObject().call();
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
