package io.github.ratelimit.spring.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Denials within a request: limited fields of GraphQL, who is counted for them on
 * whichever thread, and calls to other services.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		spring.graphql.schema.locations: classpath:limited-graphql/
		ratelimit.policies:
		  address: { limits: 5/m, identifiers: ip }
		  tenant: { limits: 5/m, identifiers: header:X-Tenant, missing-identifier: deny }
		  told: { limits: 1000/h, identifiers: global }
		  own: { limits: 1/h, identifiers: global }
		  uncaught: { limits: 1/h, identifiers: global }
		  clients: { paths: /needs/**, limits: 5/h }
		""")
class InnerDenialIT extends WithApplication {

	private static final int ALIASES = 20;

	@ParameterizedTest
	@ValueSource(strings = { "future", "mono", "shop" })
	void addressIsCountedWhicheverThreadResolves(String field, CapturedOutput output) {
		JsonNode answer = ask(aliases(field));
		JsonNode data = answer.get("data");
		assertThat(IntStream.range(0, ALIASES)
			.mapToObj((i) -> data.get("a" + i))
			.filter((value) -> value.toString().contains("called"))).hasSize(5);
		assertThat(answer.get("errors")).hasSize(ALIASES - 5).allSatisfy((error) -> {
			assertThat(error.get("message").asString()).isEqualTo("Rate limit exceeded");
			assertThat(error.get("extensions").toString()).contains("\"classification\":\"TOO_MANY_REQUESTS\"")
				.contains("\"retryAfter\":60")
				.contains("\"violatedPolicies\":[\"address\"]");
		});
		this.application.assertUsed("address", 5);
		assertThat(output).doesNotContainPattern(" ERROR \\d+ --- ");
	}

	private static String aliases(String field) {
		return IntStream.range(0, ALIASES)
			.mapToObj((i) -> "a" + i + ": " + (field.equals("shop") ? "shop { price }" : field))
			.collect(Collectors.joining(" "));
	}

	@ParameterizedTest
	@CsvSource({ "forbidden, FORBIDDEN, Forbidden", "unlucky, SERVICE_UNAVAILABLE, Temporarily unavailable",
			"arguments, BAD_REQUEST, Invalid arguments" })
	void eachRefusalHasItsClassification(String field, String code, String message, CapturedOutput output) {
		JsonNode error = ask(field).get("errors").get(0);
		assertThat(error.get("message").asString()).isEqualTo(message);
		assertThat(error.get("extensions").get("classification").asString()).isEqualTo(code);
		assertThat(output).doesNotContainPattern(" ERROR \\d+ --- ");
	}

	private JsonNode ask(String fields) {
		String body = JsonMapper.shared().writeValueAsString(Map.of("query", "{ " + fields + " }"));
		return JsonMapper.shared()
			.readTree(this.application
				.send("POST", "/graphql", BodyPublishers.ofString(body), "Content-Type", "application/json")
				.body());
	}

	/** The other service has told to wait, or the quota of calls to it is used up. */
	@ParameterizedTest
	@CsvSource({ "told/client, [1-9][0-9]*", "told/method, [1-9][0-9]*", "told/future, [1-9][0-9]*", "own/client, 3600",
			"own/method, 3600" })
	void clientIsNotToBlameForDeniedCall(String path, String retryAfter) {
		this.application.get("/needs/" + path);
		HttpResponse<String> answer = get(503, "/needs/" + path);
		assertThat(answer.body()).contains("#temporary-reduced-capacity")
			.contains("\"reason\":\"OUTGOING_DENIED\"")
			.doesNotContain("violated-policies");
		assertThat(answer.headers().firstValue("Retry-After").orElseThrow()).matches(retryAfter);
		assertThat(answer.headers().firstValue("RateLimit-Policy").orElseThrow()).startsWith("\"clients\";q=5;w=3600")
			.doesNotContain("\"told\"", "\"own\"");
		assertThat(answer.headers().allValues("Cache-Control")).contains("no-store");
		assertThat(this.application.statuses(4, "/needs/" + path)).containsExactly(503, 503, 503, 429);
	}

	/** Whoever is answered. */
	@Test
	void deniedCallThatNobodyCatchesIsLoggedOnce(CapturedOutput output) {
		String warning = "Outgoing call denied by the policy 'uncaught' (1/h); try again in 3600 s";
		get(200, "/needs/uncaught/client");
		assertThat(ask("remote").get("errors").toString()).contains("SERVICE_UNAVAILABLE");
		assertThat(output).containsOnlyOnce(warning);
		assertThat(this.application.statuses(2, "/needs/uncaught/client")).containsExactly(503, 503);
		assertThat(output).containsOnlyOnce(warning);
	}

	@Import({ Resolvers.class, Needs.class, Calls.class })
	static class Application extends TestApplication.Served {

		@Bean
		RejectionHandler reason() {
			return (rejection, request, response) -> rejection.problem()
				.setProperty("reason", rejection.reason().name());
		}

	}

	@RestController
	record Needs(Calls calls) {

		@GetMapping("/remote/told")
		ResponseEntity<String> tellToWait() {
			return ResponseEntity.status(429).header("Retry-After", "600").body("wait");
		}

		@GetMapping("/needs/{policy}/{kind}")
		Object call(@PathVariable String policy, @PathVariable String kind, HttpServletRequest request) {
			String url = "http://127.0.0.1:" + request.getServerPort() + "/remote/" + policy;
			return switch (kind) {
				case "client" -> this.calls.client(policy, url);
				case "method" -> this.calls.limited(policy, url);
				default -> CompletableFuture.supplyAsync(() -> this.calls.client(policy, url));
			};
		}

	}

	static class Calls {

		private final OutgoingRateLimits limits;

		Calls(OutgoingRateLimits limits) {
			this.limits = limits;
		}

		String client(String policy, String url) {
			RestClient client = RestClient.builder()
				.baseUrl(url)
				.requestInterceptor(this.limits.interceptor(policy))
				.build();
			return String.valueOf(client.get().retrieve().body(String.class));
		}

		@RateLimited(limits = "1000/h")
		String limited(String policy, String url) {
			return client(policy, url);
		}

	}

	record Shop(String name) {

	}

	@Controller
	static class Resolvers {

		private final Calls calls;

		Resolvers(Calls calls) {
			this.calls = calls;
		}

		@QueryMapping
		@RateLimited("address")
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> "called");
		}

		@QueryMapping
		@RateLimited("address")
		Mono<String> mono() {
			return Mono.just("called").subscribeOn(Schedulers.parallel());
		}

		@QueryMapping
		CompletableFuture<Shop> shop() {
			return CompletableFuture.supplyAsync(() -> new Shop("shop"));
		}

		@SchemaMapping
		@RateLimited("address")
		CompletableFuture<String> price(Shop shop) {
			return CompletableFuture.supplyAsync(() -> "called");
		}

		@QueryMapping
		@RateLimited("tenant")
		String forbidden() {
			return "called";
		}

		@QueryMapping
		String unlucky() {
			throw new StoreException("The store failed", null);
		}

		@QueryMapping
		String remote() {
			return this.calls.client("uncaught", "http://127.0.0.1:1/");
		}

		@QueryMapping
		@RateLimited(limits = "5/m", costExpression = "-1")
		String arguments() {
			return "called";
		}

	}

}
