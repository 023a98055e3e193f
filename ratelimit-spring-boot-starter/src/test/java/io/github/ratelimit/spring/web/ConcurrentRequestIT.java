package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.OpenApplication;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests that run at the same time, with handlers of all kinds that wait.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  held: { paths: [/held/**, /inner], concurrent: 1 }
		  both: { paths: /both, limits: 3/h, concurrent: 2, cost: 3 }
		  other: { paths: /held/callable, limits: 2/h, identifiers: 'header:X-User', missing-identifier: skip }
		  shadow: { paths: /shadow, concurrent: 1, mode: shadow }
		""")
class ConcurrentRequestIT {

	private static final Semaphore arrived = new Semaphore(0);

	private static final Semaphore mayGoOn = new Semaphore(0);

	@Parameter
	TestApplication application;

	@AfterEach
	void nobodyWaits() {
		assertThat(arrived.availablePermits()).isZero();
		assertThat(mayGoOn.availablePermits()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain", "callable", "deferred", "future", "events", "stream", "throw", "callable-throw",
			"error", "forward" })
	void requestCountsUntilItHasEnded(String kind) {
		CompletableFuture<HttpResponse<String>> first = hold("/held/" + kind);
		this.application.assertUsed("held", 1);
		HttpResponse<String> denied = this.application.get("/held/plain");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
		assertThat(denied.headers().allValues("RateLimit-Policy"))
			.containsExactly("\"held\";q=1;qu=\"concurrent-requests\"");
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"held\";r=0");
		assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
		assertThat(denied.body()).contains("\"violated-policies\":[\"held\"]");
		mayGoOn.release();
		first.join();
		this.application.assertUsed("held", 0);
	}

	@Test
	void limitsAndConcurrentCallsAreDecidedTogether() {
		CompletableFuture<HttpResponse<String>> first = hold("/both");
		HttpResponse<String> denied = this.application.get("/both");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.body()).contains("\"violated-policies\":[\"both\"]");
		assertThat(denied.headers().allValues("RateLimit"))
			.containsExactly("\"both\";r=0;t=3600, \"both (at once)\";r=1");
		assertThat(denied.headers().allValues("RateLimit-Policy"))
			.containsExactly("\"both\";q=3;w=3600, \"both (at once)\";q=2;qu=\"concurrent-requests\"");
		assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("3");
		assertThat(running("both")).isEqualTo(1);
		mayGoOn.release();
		first.join();
		await().until(() -> running("both") == 0);
	}

	@Test
	void requestThatALimitDeniesDoesNotRun() {
		for (int i = 0; i < 2; i++) {
			CompletableFuture<HttpResponse<String>> allowed = hold("/held/callable", "X-User", "anna");
			mayGoOn.release();
			assertThat(allowed.join().statusCode()).isEqualTo(200);
			this.application.assertUsed("held", 0);
		}
		assertThat(this.application.get("/held/callable", "X-User", "anna").statusCode()).isEqualTo(429);
		this.application.assertUsed("held", 0);
	}

	@Test
	void shadowModeDeniesNothing() {
		List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, 3)
			.mapToObj((i) -> hold("/shadow"))
			.toList();
		this.application.assertUsed("shadow", 1);
		mayGoOn.release(3);
		assertThat(all).allSatisfy((each) -> assertThat(each.join().statusCode()).isEqualTo(200));
		this.application.assertUsed("shadow", 0);
	}

	@Test
	void requestOfAnInstanceThatDiedEndsWithItsLease() {
		this.application.bean(RateLimiter.class)
			.tryAcquire(RateLimitRequest
				.of(this.application.bean(ConfiguredPolicies.class).find("held").orElseThrow().policy(),
						Identifier.ip("127.0.0.1"))
				.withCall(1));
		assertThat(this.application.get("/held/plain").statusCode()).isEqualTo(429);
		this.application.advance(Duration.ofMinutes(1));
		CompletableFuture<HttpResponse<String>> next = hold("/held/plain");
		mayGoOn.release();
		assertThat(next.join().statusCode()).isEqualTo(200);
		this.application.assertUsed("held", 0);
	}

	/** Sends a request, and waits until it is being handled. */
	private CompletableFuture<HttpResponse<String>> hold(String path, String... headers) {
		CompletableFuture<HttpResponse<String>> response = CompletableFuture
			.supplyAsync(() -> this.application.get(path, headers));
		arrived.acquireUninterruptibly();
		return response;
	}

	/** How many requests run that a policy with limits allows. */
	private long running(String policy) {
		Policy concurrent = this.application.bean(ConfiguredPolicies.class).find(policy).orElseThrow().concurrent();
		return concurrent.limits().get(0).quota() - this.application.bean(RateLimiter.class)
			.peek(RateLimitRequest.of(concurrent, Identifier.ip("127.0.0.1")))
			.statuses()
			.get(0)
			.remaining();
	}

	private static void waitUntilAllowed() {
		arrived.release();
		mayGoOn.acquireUninterruptibly();
	}

	@OpenApplication
	@Controller
	static class Application {

		@GetMapping({ "/held/plain", "/both", "/shadow", "/inner" })
		@ResponseBody
		String plain() {
			waitUntilAllowed();
			return "served";
		}

		@GetMapping("/held/callable")
		@ResponseBody
		Callable<String> callable() {
			return this::plain;
		}

		@GetMapping("/held/deferred")
		@ResponseBody
		DeferredResult<String> deferred() {
			DeferredResult<String> result = new DeferredResult<>(60_000L);
			new Thread(() -> result.setResult(plain())).start();
			return result;
		}

		@GetMapping("/held/future")
		@ResponseBody
		CompletableFuture<String> future() {
			CompletableFuture<String> result = new CompletableFuture<>();
			new Thread(() -> result.complete(plain())).start();
			return result;
		}

		@GetMapping("/held/events")
		SseEmitter events() {
			SseEmitter emitter = new SseEmitter(60_000L);
			new Thread(() -> {
				try {
					emitter.send("served");
					waitUntilAllowed();
					emitter.send("more");
				}
				catch (IOException ex) {
					emitter.completeWithError(ex);
				}
				emitter.complete();
			}).start();
			return emitter;
		}

		@GetMapping("/held/stream")
		StreamingResponseBody stream() {
			return (output) -> {
				output.write(1);
				output.flush();
				waitUntilAllowed();
			};
		}

		@GetMapping("/held/throw")
		void fail() {
			waitUntilAllowed();
			throw new IllegalStateException("expected by this test");
		}

		@GetMapping("/held/callable-throw")
		Callable<String> failLater() {
			return () -> {
				waitUntilAllowed();
				throw new IllegalStateException("expected by this test");
			};
		}

		@GetMapping("/held/error")
		void error(HttpServletResponse response) throws IOException {
			waitUntilAllowed();
			response.sendError(418);
		}

		@GetMapping("/held/forward")
		String forward() {
			return "forward:/inner";
		}

	}

}
