package io.github.ratelimit.spring.web;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a client sees whose request needs a call to another service that is denied.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  told: { limits: 1000/h, identifiers: global }
		  own: { limits: 1/h, identifiers: global }
		  clients: { paths: /needs/**, limits: 5/h }
		""")
class OutgoingCallDeniedIT {

	@Parameter
	TestApplication application;

	/** The other service has told to wait, or the quota of calls to it is used up. */
	@ParameterizedTest
	@CsvSource({ "told/client, [1-9][0-9]*", "told/method, [1-9][0-9]*", "told/future, [1-9][0-9]*", "own/client, 3600",
			"own/method, 3600" })
	void clientIsNotToBlameForDeniedCall(String path, String retryAfter) {
		this.application.get("/needs/" + path);
		HttpResponse<String> answer = this.application.get("/needs/" + path);
		assertThat(answer.statusCode()).isEqualTo(503);
		assertThat(answer.body()).contains("#temporary-reduced-capacity")
			.contains("\"reason\":\"OUTGOING_DENIED\"")
			.doesNotContain("violated-policies");
		assertThat(answer.headers().firstValue("Retry-After").orElseThrow()).matches(retryAfter);
		assertThat(answer.headers().allValues("RateLimit-Policy")).singleElement(InstanceOfAssertFactories.STRING)
			.startsWith("\"clients\";q=5;w=3600")
			.doesNotContain("\"told\"", "\"own\"");
		assertThat(answer.headers().allValues("Cache-Control")).contains("no-store");
	}

	@Test
	void clientThatSendsTooMuchIsStillDenied() {
		this.application.statuses(5, "/needs/told/client");
		assertThat(this.application.get("/needs/told/client").statusCode()).isEqualTo(429);
	}

	@OpenApplication
	@Import({ Needs.class, Remote.class, Calls.class })
	static class Application {

		@Bean
		RejectionHandler reason() {
			return (rejection, request, response) -> rejection.problem()
				.setProperty("reason", rejection.reason().name());
		}

	}

	@RestController
	static class Remote {

		@GetMapping("/remote/told")
		ResponseEntity<String> told() {
			return ResponseEntity.status(429).header("Retry-After", "600").body("wait");
		}

		@GetMapping("/remote/own")
		String own() {
			return "done";
		}

	}

	@RestController
	record Needs(Calls calls) {

		@GetMapping("/needs/{policy}/{kind}")
		Object call(@PathVariable String policy, @PathVariable String kind, HttpServletRequest request) {
			int port = request.getServerPort();
			return switch (kind) {
				case "client" -> this.calls.client(policy, port);
				case "method" -> this.calls.limited(policy, port);
				case "future" -> CompletableFuture.supplyAsync(() -> this.calls.client(policy, port));
				default -> "done";
			};
		}

	}

	static class Calls {

		private final OutgoingRateLimits limits;

		Calls(OutgoingRateLimits limits) {
			this.limits = limits;
		}

		String client(String policy, int port) {
			return String.valueOf(restClient(policy, port).get().retrieve().body(String.class));
		}

		@RateLimited(limits = "1000/h")
		String limited(String policy, int port) {
			return client(policy, port);
		}

		private RestClient restClient(String policy, int port) {
			return RestClient.builder()
				.baseUrl(uri(policy, port))
				.requestInterceptor(this.limits.interceptor(policy))
				.build();
		}

		private static URI uri(String policy, int port) {
			return URI.create("http://127.0.0.1:" + port + "/remote/" + policy);
		}

	}

}
