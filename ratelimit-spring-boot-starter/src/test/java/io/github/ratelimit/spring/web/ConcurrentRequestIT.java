package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests that run at the same time, with handlers of all kinds that wait.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, application = ServingApplication.class, value = """
		ratelimit.policies:
		  held: { paths: /held/**, concurrent: 1 }
		  both: { paths: /both/**, limits: 3/h, concurrent: 2, cost: 3 }
		  other: { paths: /held/callable, limits: 1/h, identifiers: 'header:X-User', missing-identifier: skip }
		  shadow: { paths: /shadow/**, concurrent: 1, mode: shadow }
		  tokens: { limits: 9/h }
		""")
class ConcurrentRequestIT {

	@Parameter
	TestApplication application;

	@AfterEach
	void nobodyWaits() {
		assertThat(ServingApplication.arrived.availablePermits()).isZero();
		assertThat(ServingApplication.mayGoOn.availablePermits()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain", "callable", "deferred", "future", "events", "stream", "throw", "callable-throw",
			"error/418", "forward" })
	void requestCountsUntilItHasEnded(String kind) {
		ServingApplication.states.clear();
		CompletableFuture<HttpResponse<String>> first = hold("/held/" + kind);
		this.application.assertUsed("held", 1);
		RequestState state = ServingApplication.states.remove();
		await().until(state::isRunning);
		HttpResponse<String> denied = this.application.get("/held/plain");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
		assertThat(denied.headers().allValues("RateLimit-Policy"))
			.containsExactly("\"held\";q=1;qu=\"concurrent-requests\"");
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"held\";r=0");
		assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
		assertThat(denied.body()).contains("\"violated-policies\":[\"held\"]");
		ServingApplication.mayGoOn.release();
		first.join();
		this.application.assertUsed("held", 0);
		await().until(() -> !state.isRunning());
	}

	@Test
	void limitsAndConcurrentCallsAreDecidedTogether() {
		CompletableFuture<HttpResponse<String>> first = hold("/both/plain");
		HttpResponse<String> denied = this.application.get("/both/plain");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("RateLimit"))
			.containsExactly("\"both\";r=0;t=3600, \"both (at once)\";r=1");
		assertThat(denied.headers().allValues("RateLimit-Policy"))
			.containsExactly("\"both\";q=3;w=3600, \"both (at once)\";q=2;qu=\"concurrent-requests\"");
		assertThat(running("both")).isEqualTo(1);
		ServingApplication.mayGoOn.release();
		first.join();
		await().until(() -> running("both") == 0);
	}

	@Test
	void requestThatALimitDeniesDoesNotRun() {
		assertThat(this.application.statuses(2, "/held/callable", "X-User", "anna")).containsExactly(200, 429);
		this.application.assertUsed("held", 0);
	}

	@Test
	void shadowModeDeniesNothing() {
		List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, 3)
			.mapToObj((i) -> hold("/shadow/plain"))
			.toList();
		this.application.assertUsed("shadow", 1);
		ServingApplication.mayGoOn.release(3);
		assertThat(all).allSatisfy((each) -> assertThat(each.join().statusCode()).isEqualTo(200));
		this.application.assertUsed("shadow", 0);
	}

	/** Sends a request, and waits until it is being handled. */
	private CompletableFuture<HttpResponse<String>> hold(String path) {
		CompletableFuture<HttpResponse<String>> response = CompletableFuture
			.supplyAsync(() -> this.application.get(path + "?hold&to=/inner/plain"));
		ServingApplication.arrived.acquireUninterruptibly();
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

}
