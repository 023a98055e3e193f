package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests whose handlers return publishers and futures of limited methods, counted on a
 * real Redis.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY },
		value = "ratelimit.policies.failures: { limits: 2/m, identifiers: ip, count-when: 'status in [4xx]' }")
class AsynchronousCallIT {

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@ValueSource(strings = { "Results.future", "Results.mono", "Results.events", "Results.elsewhere",
			"SuspendingController.handler", "SuspendingResults.call" })
	void deniedRequestGets429AndHeaders(String policy) {
		String path = policy.replaceFirst(".*\\.", "/");
		HttpResponse<String> allowed = this.application.get(path);
		assertThat(allowed.statusCode()).isEqualTo(200);
		assertThat(allowed.body()).contains("called");
		assertThat(allowed.headers().firstValue("RateLimit")).hasValue('"' + policy + "\";r=0;t=60");
		HttpResponse<String> denied = this.application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.headers().firstValue("RateLimit")).hasValue('"' + policy + "\";r=0;t=60");
		assertThat(denied.headers().allValues("RateLimit")).hasSize(1);
		assertThat(denied.body()).contains("quota-exceeded");
		assertThat(this.application.decisions()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/tenant", "/suspending-tenant" })
	void requestIdentifiesWhichThreadEverDecides(String path) {
		assertThat(this.application.get(path, "X-Tenant", "a").statusCode()).isEqualTo(200);
		assertThat(this.application.get(path, "X-Tenant", "a").statusCode()).isEqualTo(429);
		assertThat(this.application.get(path, "X-Tenant", "b").statusCode()).isEqualTo(200);
	}

	/**
	 * Also on a thread that still holds the ended request, as context propagation does.
	 */
	@Test
	void publisherThatOutlivesItsRequestIsCountedForItsCaller() {
		for (String tenant : new String[] { "a", "b", "c" }) {
			assertThat(this.application.get("/kept", "X-Tenant", tenant).body()).isEqualTo("kept");
		}
		assertThat(this.application.decisions()).isZero();
		Callers callers = this.application.bean(Callers.class);
		Map<String, Mono<String>> kept = callers.kept;
		assertThat(kept.get("a").block()).isEqualTo("called");
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(kept.get("a")::block);
		assertThat(kept.get("b").subscribeOn(Schedulers.parallel()).block()).isEqualTo("called");
		RequestContextHolder.setRequestAttributes(callers.last);
		try {
			assertThat(kept.get("c").block()).isEqualTo("called");
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(kept.get("c")::block);
		}
		finally {
			RequestContextHolder.resetRequestAttributes();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/counted", "/counted-elsewhere", "/counted-future", "/counted-suspending" })
	void costsAreSettledWhenRequestEnds(String path) {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.get(path).statusCode()).isEqualTo(200);
			this.application.assertUsed("failures", 0);
		}
	}

	@OpenApplication
	@Import({ Results.class, Callers.class, SuspendingController.class, CallingController.class,
			SuspendingResults.class })
	static class Application {

	}

	/** Handlers that are limited themselves. */
	@RestController
	static class Results {

		@GetMapping("/future")
		@RateLimited(limits = "1/m")
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> "called");
		}

		@GetMapping("/mono")
		@RateLimited(limits = "1/m")
		Mono<String> mono() {
			return Mono.just("called");
		}

		@GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		@RateLimited(limits = "1/m")
		Flux<String> events() {
			return Flux.just("called", "often");
		}

		@GetMapping("/counted")
		@RateLimited("failures")
		Mono<String> counted() {
			return Mono.just("called");
		}

		@GetMapping("/counted-future")
		@RateLimited("failures")
		CompletableFuture<String> countedFuture() {
			return CompletableFuture.supplyAsync(() -> "called");
		}

		@RateLimited(limits = "1/m")
		Mono<String> elsewhere() {
			return Mono.just("called");
		}

		@RateLimited(limits = "1/m", identifiers = "header:X-Tenant")
		Mono<String> tenant() {
			return Mono.just("called");
		}

	}

	/** Handlers that call limited methods. */
	@RestController
	static class Callers {

		private final Map<String, Mono<String>> kept = new ConcurrentHashMap<>();

		private final Results results;

		private volatile RequestAttributes last;

		Callers(Results results) {
			this.results = results;
		}

		@GetMapping("/elsewhere")
		Mono<String> elsewhere() {
			return this.results.elsewhere().subscribeOn(Schedulers.parallel());
		}

		@GetMapping("/tenant")
		Mono<String> tenant() {
			return this.results.tenant().subscribeOn(Schedulers.parallel());
		}

		@GetMapping("/counted-elsewhere")
		Mono<String> countedElsewhere() {
			return this.results.counted().subscribeOn(Schedulers.parallel());
		}

		@GetMapping("/kept")
		String kept(@RequestHeader("X-Tenant") String tenant) {
			this.last = RequestContextHolder.currentRequestAttributes();
			this.kept.put(tenant, this.results.tenant());
			return "kept";
		}

	}

}
