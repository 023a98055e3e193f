package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is true of every servlet container: a path is decided when a request reaches it,
 * each policy once in a request; and what a request costs is settled once, at its end.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		server.shutdown: immediate
		ratelimit.policies:
		  all: { paths: /**, limits: 1000/h }
		  api: { paths: /api/**, limits: 3/h }
		  error: { paths: /error, limits: 3/h }
		  login: { paths: /login/**, limits: 100/h, count-when: 'status in [401, 5xx]' }
		  tokens: { paths: /tokens/**, limits: 100/h, cost: 10 }
		  priced: { paths: [/priced/plain, /priced/include], limits: 100/h,
		    routes: [{ paths: [/priced/other, /priced/forward], cost: 5 }] }
		  running: { paths: /**, concurrent: 1000, mode: shadow }
		""")
class DispatchIT {

	@Parameter
	TestApplication application;

	/** However they end. */
	@AfterEach
	void noRequestRunsAnyMore() {
		assertThat(this.application.decisions("running")).isPositive();
		this.application.assertUsed("running", 0);
	}

	@ParameterizedTest
	@CsvSource({ "/open/plain, 200, 0, 0", "/open/forward?to=/api/plain, 200, 1, 0",
			"/open/include?to=/api/plain&to=/api/other, 200, 1, 0", "/open/dispatch?to=/api/plain, 200, 1, 0",
			"/open/error/418, 418, 0, 1", "/open/throw, 500, 0, 1", "/open/missing, 404, 0, 1", "/api/plain, 200, 1, 0",
			"/api/forward?to=/api/plain, 200, 1, 0", "/api/include?to=/api/plain&to=/api/other, 200, 1, 0",
			"/api/dispatch?to=/api/plain, 200, 1, 0", "/api/error/418, 418, 1, 1", "/api/throw, 500, 1, 1",
			"/api/missing, 404, 1, 1", "/api/callable-throw, 500, 1, 1", "/api/time-out, 503, 1, 1",
			"/api/stream, 200, 1, 0", "/api/events, 200, 1, 0" })
	void eachPolicyIsChargedOnceWhenItsPathIsReached(String path, int status, int api, int error) {
		assertThat(this.application.get(path).statusCode()).isEqualTo(status);
		this.application.assertUsed("all", 1);
		this.application.assertUsed("api", api);
		this.application.assertUsed("error", error);
	}

	@ParameterizedTest
	@CsvSource({ "/open/forward?to=/api/plain, api", "/open/include?to=/api/plain, api",
			"/open/dispatch?to=/api/plain, api", "/open/throw, error", "/open/error/418, error" })
	void requestIsDeniedWhenPathThatItReachesIs(String path, String policy) {
		assertThat(this.application.statuses(3, path)).doesNotContain(429);
		HttpResponse<String> denied = this.application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.body()).contains("\"violated-policies\":[\"" + policy + "\"]").doesNotContain("begun");
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("3600");
		this.application.assertUsed(policy, 3);
		this.application.assertUsed("all", 4);
	}

	/** A page may do without a part that is denied. */
	@Test
	void otherPoliciesStillCountWhenIncludedPathIsDenied() {
		this.application.statuses(3, "/api/plain");
		assertThat(this.application.get("/open/include-or-forward?settle=3").statusCode()).isEqualTo(200);
		this.application.assertUsed("tokens", 3);
	}

	@ParameterizedTest
	@CsvSource({ "/priced/plain, 1", "/priced/include?to=/priced/other, 1", "/priced/other, 5",
			"/priced/forward?to=/priced/plain, 5" })
	void dispatchedRequestPaysThePriceOfItsFirstPath(String path, int cost) {
		assertThat(this.application.get(path).body()).contains("served");
		this.application.assertUsed("priced", cost);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api/stream", "/api/events", "/api/committed" })
	void headersComeBeforeBodyThatIsStreamed(String path) {
		HttpResponse<String> response = this.application.get(path);
		assertThat(response.body()).contains("served");
		assertThat(response.headers().map()).containsKeys("ratelimit", "ratelimit-policy", "x-rate-limit-limit")
			.doesNotContainKey("content-length");
	}

	@ParameterizedTest
	@CsvSource({ "/open/forward?to=/api/plain, api", "/open/throw, error" })
	void headersTellOfEveryPathThatIsReached(String path, String policy) {
		assertThat(this.application.get(path).headers().allValues("RateLimit"))
			.containsExactly("\"all\";r=999;t=3600, \"%s\";r=2;t=3600".formatted(policy));
	}

	@Test
	void methodsCalledInParallelForOneRequestAllCount() {
		HttpResponse<String> response = this.application.get("/parallel?threads=16");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().allValues("RateLimit")).hasSize(1);
		assertThat(response.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1000");
		assertThat(this.application.decisions("Parallel.first")).isEqualTo(8);
		assertThat(this.application.decisions("Parallel.second")).isEqualTo(8);
	}

	@ParameterizedTest
	@CsvSource({ "/login/plain?status=200, 0", "/login/plain?status=401, 1", "/login/plain?status=403, 0",
			"/login/error/401, 1", "/login/error/403, 0", "/login/throw, 1", "/login/callable?status=200, 0",
			"/login/callable?status=401, 1", "/login/callable-throw, 1", "/login/future?status=200, 0",
			"/login/future?status=401, 1", "/login/time-out, 1", "/login/missing, 0", "/login/stream, 0" })
	void onlyResponsesOfTheStatusCount(String path, int used) {
		this.application.get(path);
		assertSettledOnce("login", used, 1);
	}

	@ParameterizedTest
	@CsvSource({ "/tokens/plain, 10", "/tokens/plain?settle=3, 3", "/tokens/plain?settle=10, 10",
			"/tokens/plain?settle=25, 25", "/tokens/plain?settle=0, 0", "/tokens/plain?settle=1000, 100",
			"/tokens/plain?settle=50&settle=7, 7", "/tokens/callable?settle=4, 4", "/tokens/future?settle=5, 5",
			"/tokens/deferred?settle=5, 5", "/tokens/stream?settle=3, 3", "/tokens/stream-throw?settle=3, 3",
			"/tokens/events?settle=3, 3", "/tokens/throw?settle=6, 6", "/tokens/time-out?settle=8, 8",
			"/tokens/servlet/complete, 3", "/tokens/servlet/complete-at-once, 3", "/tokens/servlet/dispatch, 4",
			"/tokens/servlet/dispatch-at-once, 4", "/tokens/servlet/again, 3", "/tokens/servlet/time-out, 7" })
	void trueCostIsSettledOnceWhenTheRequestIsOver(String path, int used) {
		getOrBreak(path);
		assertSettledOnce("tokens", used, 10);
	}

	/** The costs of the request are taken before anything of it counts. */
	@ParameterizedTest
	@ValueSource(strings = { "plain", "callable", "deferred", "future", "stream", "stream-throw", "throw" })
	void trueCostOfMethodIsSettledAfterTheRequest(String kind) {
		getOrBreak("/open/" + kind + "?call&settle=3");
		assertSettledOnce("tokens", 3, 1);
	}

	/** The server breaks off a response whose handler fails after its head. */
	private void getOrBreak(String path) {
		this.application.sendRaw("GET " + path);
	}

	/**
	 * Whatever the container still tells of the request after it was settled. A second
	 * refund would not be seen in what is used, which is never less than nothing.
	 */
	private void assertSettledOnce(String policy, int used, int cost) {
		this.application.assertUsed(policy, used);
		this.application.assertUsed("running", 0);
		assertThat(this.application.decisions(policy)).as("charges").isOne();
		assertThat(this.application.settlements(policy)).as("settlements").isEqualTo((used != cost) ? 1 : 0);
	}

	@Test
	void costOfPolicyThatDoesNotCountIsNotSettled() {
		assertThat(this.application.get("/open/plain?settle=5").body()).isEqualTo("unknown");
	}

	/** Often, because Tomcat forgets about one of ten such requests without an event. */
	@RepeatedTest(15)
	void costsCountWhenTheClientGoesAwayFromStream() throws Exception {
		goAway("/tokens/endless?settle=2", 10);
		this.application.forget();
		goAway("/open/endless?call&settle=2", 1);
	}

	/** A container may notice only when the time of the request is over. */
	@RepeatedTest(3)
	void costsCountWhenTheClientGoesAwayFromEvents() throws Exception {
		goAway("/tokens/endless-events?settle=2", 10);
	}

	private void goAway(String path, int cost) throws IOException, InterruptedException {
		ServingApplication.aborted = new CountDownLatch(1);
		try (Socket client = this.application.connect()) {
			client.getOutputStream()
				.write("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(path)
					.getBytes(StandardCharsets.US_ASCII));
			assertThat(client.getInputStream().readNBytes(2000)).hasSize(2000);
		}
		assertThat(ServingApplication.aborted.await(30, TimeUnit.SECONDS)).isTrue();
		assertSettledOnce("tokens", 2, cost);
	}

	@Import(Parallel.class)
	static class Application extends ServingApplication {

		private final Parallel parallel;

		Application(Limited limited, Parallel parallel) {
			super(limited);
			this.parallel = parallel;
		}

		/** Calls a limited method on many threads for one request. */
		@GetMapping("/parallel")
		@ResponseBody
		String parallel(@RequestParam int threads) {
			RequestAttributes attributes = RequestContextHolder.currentRequestAttributes();
			CyclicBarrier start = new CyclicBarrier(threads);
			CompletableFuture<?>[] calls = IntStream.range(0, threads).mapToObj((i) -> {
				CompletableFuture<String> call = new CompletableFuture<>();
				inThread(() -> {
					RequestContextHolder.setRequestAttributes(attributes);
					start.await();
					return (i % 2 == 0) ? this.parallel.first() : this.parallel.second();
				}, call::complete, call::completeExceptionally);
				return call;
			}).toArray(CompletableFuture[]::new);
			CompletableFuture.allOf(calls).join();
			return "served";
		}

	}

	static class Parallel {

		@RateLimited(limits = "1000/m")
		public String first() {
			return "called";
		}

		@RateLimited(limits = "1000/m")
		public String second() {
			return "called";
		}

	}

}
