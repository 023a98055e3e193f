package io.github.ratelimit.spring.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.stereotype.Controller;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limited fields of GraphQL: who is counted on whichever thread, and what a denied field
 * is answered.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		spring.graphql.schema.locations: classpath:limited-graphql/
		ratelimit.policies:
		  address: { limits: 5/m, identifiers: ip }
		  tenant: { limits: 5/m, identifiers: header:X-Tenant, missing-identifier: deny }
		""")
@ExtendWith(OutputCaptureExtension.class)
class GraphQlIT {

	private static final int ALIASES = 20;

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@ValueSource(strings = { "future", "plain", "mono", "shop" })
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

	@OpenApplication
	@Import(Resolvers.class)
	static class Application {

	}

	record Shop(String name) {

	}

	@Controller
	static class Resolvers {

		@QueryMapping
		@RateLimited("address")
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> "called");
		}

		@QueryMapping
		@RateLimited("address")
		String plain() {
			return "called";
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
		@RateLimited(limits = "5/m", costExpression = "-1")
		String arguments() {
			return "called";
		}

	}

}
