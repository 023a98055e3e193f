package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is true of every servlet container: a path is decided when a request reaches it,
 * each policy once in a request; what a request costs is settled once, at its end; and it
 * runs until then.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, application = ServingApplication.class, value = """
		server.shutdown: immediate
		ratelimit.policies:
		  all: { paths: /**, limits: 1000/h, exclude: /held/** }
		  api: { paths: /api/**, limits: 3/h }
		  error: { paths: /error, limits: 3/h }
		  login: { paths: /login/**, limits: 100/h, count-when: 'status in [401, 5xx]' }
		  tokens: { paths: /tokens/**, limits: 100/h, cost: 10 }
		  priced: { paths: [/priced/plain, /priced/include], limits: 100/h,
		    routes: [{ paths: [/priced/other, /priced/forward], cost: 5 }] }
		  running: { paths: /**, concurrent: 1000, mode: shadow }
		  held: { paths: /held/**, concurrent: 1 }
		  other: { paths: /held/callable, limits: 1/h, identifiers: 'header:X-User', missing-identifier: skip }
		""")
class DispatchIT extends WithApplication {

	/** However they end. */
	@AfterEach
	void noRequestRunsAnyMore() {
		assertThat(this.application.decisions("running")).isPositive();
		this.application.assertUsed("running", 0);
		assertThat(ServingApplication.arrived.availablePermits()).isZero();
		assertThat(ServingApplication.mayGoOn.availablePermits()).isZero();
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
		HttpResponse<String> denied = get(429, path);
		assertThat(denied.body()).contains("\"violated-policies\":[\"" + policy + "\"]").doesNotContain("begun");
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("3600");
		this.application.assertUsed(policy, 3);
		this.application.assertUsed("all", 4);
	}

	/** A page may do without a part that is denied. */
	@Test
	void otherPoliciesStillCountWhenIncludedPathIsDenied() {
		this.application.statuses(3, "/api/plain");
		assertThat(
				this.application.get("/open/include-or-forward?settle=3&to=/api/plain&to=/tokens/plain").statusCode())
			.isEqualTo(200);
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
		HttpResponse<String> response = get(200, "/open/parallel");
		assertThat(response.headers().allValues("RateLimit")).hasSize(1);
		assertThat(response.headers().allValues("X-Rate-Limit-Limit")).containsExactly("100");
		assertThat(this.application.decisions("tokens")).isEqualTo(8);
		assertThat(this.application.decisions("Limited.other")).isEqualTo(8);
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
			"/tokens/stream?settle=3, 3", "/tokens/stream-throw?settle=3, 3", "/tokens/events?settle=3, 3",
			"/tokens/throw?settle=6, 6", "/tokens/time-out?settle=8, 8", "/tokens/complete?settle=3, 3",
			"/tokens/complete-later?settle=3, 3", "/tokens/wait?settle=7, 7",
			"/tokens/dispatch?to=/tokens/plain&settle=4, 4", "/tokens/dispatch-later?to=/tokens/plain&settle=4, 4",
			"/tokens/dispatch-later?to=/tokens/complete&settle=3, 3" })
	void trueCostIsSettledOnceWhenTheRequestIsOver(String path, int used) {
		getOrBreak(path);
		assertSettledOnce("tokens", used, 10);
	}

	/** The costs of the request are taken before anything of it counts. */
	@ParameterizedTest
	@ValueSource(strings = { "plain", "callable", "future", "stream", "stream-throw", "throw" })
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

	@ParameterizedTest
	@ValueSource(strings = { "plain", "callable", "future", "events", "stream", "throw", "callable-throw", "error/418",
			"forward" })
	void requestRunsUntilItHasEnded(String kind) {
		ServingApplication.states.clear();
		CompletableFuture<HttpResponse<String>> first = hold("/held/" + kind);
		this.application.assertUsed("held", 1);
		RequestState state = ServingApplication.states.remove();
		await().until(state::isRunning);
		HttpResponse<String> denied = get(429, "/held/plain");
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
	void requestThatALimitDeniesDoesNotRun() {
		assertThat(this.application.statuses(2, "/held/callable", "X-User", "anna")).containsExactly(200, 429);
		this.application.assertUsed("held", 0);
	}

	/** Sends a request, and waits until it is being handled. */
	private CompletableFuture<HttpResponse<String>> hold(String path) {
		CompletableFuture<HttpResponse<String>> response = CompletableFuture
			.supplyAsync(() -> this.application.get(path + "?hold&to=/inner/plain"));
		ServingApplication.arrived.acquireUninterruptibly();
		return response;
	}

}
