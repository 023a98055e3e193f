package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is true of every servlet container: a path is decided when a request reaches it,
 * each policy once in a request; and what a request costs is settled once, at its end.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DispatchContract {

	/** What a request costs below the path of tokens, until it tells its true cost. */
	private static final int COST = 10;

	private TestApplication application;

	/** The configuration of the application, with its container. */
	abstract Class<?> application();

	@BeforeAll
	void start() {
		this.application = TestApplication.start(application(), "ratelimit.policies.all.paths=/**",
				"ratelimit.policies.all.limits=1000/h", "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=3/h", "ratelimit.policies.error.paths=/error",
				"ratelimit.policies.error.limits=3/h", "ratelimit.policies.login.paths=/login/**",
				"ratelimit.policies.login.limits=100/h", "ratelimit.policies.login.count-when=status in [401, 5xx]",
				"ratelimit.policies.tokens.paths=/tokens/**", "ratelimit.policies.tokens.limits=100/h",
				"ratelimit.policies.tokens.cost=" + COST, "ratelimit.policies.method.limits=100/h",
				"ratelimit.policies.method.count-when=status in [401]", "ratelimit.policies.running.paths=/**",
				"ratelimit.policies.running.concurrent=1000", "ratelimit.policies.running.mode=shadow",
				"spring.mvc.async.request-timeout=300ms", "server.shutdown=immediate");
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@BeforeEach
	void forget() {
		this.application.forget();
	}

	/** However they end. */
	@AfterEach
	void noRequestRunsAnyMore() {
		assertThat(this.application.decisions("running")).isPositive();
		this.application.assertUsed("running", 0);
	}

	@ParameterizedTest
	@CsvSource({ "/open/plain, 200, 0, 0", "/open/forward, 200, 1, 0", "/open/include, 200, 1, 0",
			"/open/dispatch, 200, 1, 0", "/open/error/418, 418, 0, 1", "/open/throw, 500, 0, 1",
			"/open/missing, 404, 0, 1", "/api/plain, 200, 1, 0", "/api/forward, 200, 1, 0", "/api/include, 200, 1, 0",
			"/api/dispatch, 200, 1, 0", "/api/error/418, 418, 1, 1", "/api/throw, 500, 1, 1", "/api/missing, 404, 1, 1",
			"/api/callable-throw, 500, 1, 1", "/api/time-out, 503, 1, 1", "/api/stream, 200, 1, 0",
			"/api/events, 200, 1, 0" })
	void eachPolicyIsChargedOnceWhenItsPathIsReached(String path, int status, int api, int error) {
		HttpResponse<String> response = this.application.get(path);
		assertThat(response.statusCode()).isEqualTo(status);
		this.application.assertUsed("all", 1);
		this.application.assertUsed("api", api);
		this.application.assertUsed("error", error);
	}

	@ParameterizedTest
	@CsvSource({ "/open/forward, api", "/open/include, api", "/open/dispatch, api", "/open/throw, error",
			"/open/error/418, error" })
	void requestIsDeniedWhenAPathThatItReachesIsDenied(String path, String policy) {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.get(path).statusCode()).isNotEqualTo(429);
		}
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
		for (int i = 0; i < 3; i++) {
			this.application.get("/api/plain");
		}
		assertThat(this.application.get("/open/include-or-forward").statusCode()).isEqualTo(200);
		this.application.assertUsed("tokens", 3);
	}

	@Test
	void headersTellOfEveryPathThatIsReached() {
		assertThat(this.application.get("/open/forward").headers().allValues("RateLimit"))
			.containsExactly("\"all\";r=999;t=3600, \"api\";r=2;t=3600");
		assertThat(this.application.get("/open/throw").headers().allValues("RateLimit"))
			.containsExactly("\"all\";r=998;t=3600, \"error\";r=2;t=3600");
	}

	@ParameterizedTest
	@CsvSource({ "/login/status/200, 0", "/login/status/401, 1", "/login/status/403, 0", "/login/error/401, 1",
			"/login/error/403, 0", "/login/throw, 1", "/login/callable/200, 0", "/login/callable/401, 1",
			"/login/callable-throw, 1", "/login/future/200, 0", "/login/future/401, 1", "/login/time-out, 1",
			"/login/missing, 0", "/login/stream, 0" })
	void onlyResponsesOfTheStatusCount(String path, int used) {
		this.application.get(path);
		assertSettledOnce("login", used, 1);
	}

	@ParameterizedTest
	@CsvSource({ "/method/200, 0", "/method/401, 1", "/method/403, 0" })
	void onlyResponsesOfTheStatusCountForMethods(String path, int used) {
		this.application.get(path);
		assertSettledOnce("method", used, 1);
	}

	@ParameterizedTest
	@CsvSource({ "/valid-rows?rows=200, 200, 1", "/valid-rows?rows=0, 400, 0" })
	void invalidRequestIsFreeWhenSpringMvcValidatesIt(String path, int status, int used) {
		assertThat(this.application.get(path).statusCode()).isEqualTo(status);
		this.application.assertUsed("tokens", used);
	}

	@ParameterizedTest
	@CsvSource({ "/rows?rows=200, 200, 3", "/rows?rows=-500, 400, 0", "/rows?rows=, 400, 0",
			"/checked-rows?rows=200, 200, 3", "/checked-rows?rows=-500, 200, 1" })
	void requestIsBadWhenClientsValueMakesNoCost(String path, int status, int used, CapturedOutput output) {
		int ofStart = output.length();
		HttpResponse<String> response = this.application.get(path);
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.body()).doesNotContain("rows.get");
		this.application.assertUsed("tokens", used);
		assertThat(output.toString().substring(ofStart)).doesNotContain("ERROR").doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource({ "/tokens/none, 10", "/tokens/3, 3", "/tokens/10, 10", "/tokens/25, 25", "/tokens/0, 0",
			"/tokens/1000, 100", "/tokens/twice, 7", "/tokens/callable, 4", "/tokens/future, 5", "/tokens/deferred, 5",
			"/tokens/stream, 3", "/tokens/events, 3", "/tokens/throw, 6", "/tokens/time-out, 8",
			"/tokens/servlet/complete, 3", "/tokens/servlet/complete-at-once, 3", "/tokens/servlet/dispatch, 4",
			"/tokens/servlet/dispatch-at-once, 4", "/tokens/servlet/again, 3", "/tokens/servlet/time-out, 7" })
	void trueCostIsSettledOnceWhenTheRequestIsOver(String path, int used) {
		this.application.get(path);
		assertSettledOnce("tokens", used, COST);
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
	void costOfPolicyThatDoesNotCountTheRequestIsNotSettled() {
		assertThat(this.application.get("/free").body()).isEqualTo("false");
	}

	/** Often, because Tomcat forgets about one of ten such requests without an event. */
	@RepeatedTest(30)
	void costsCountWhenTheClientGoesAwayFromStream() throws Exception {
		goAway("/tokens/endless");
	}

	/** A container may notice only when the time of the request is over. */
	@RepeatedTest(3)
	void costsCountWhenTheClientGoesAwayFromEvents() throws Exception {
		goAway("/tokens/endless-events");
	}

	private void goAway(String path) throws IOException, InterruptedException {
		DispatchApplication.aborted = new CountDownLatch(1);
		try (Socket client = new Socket("127.0.0.1", this.application.port())) {
			client.getOutputStream()
				.write("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(path)
					.getBytes(StandardCharsets.US_ASCII));
			client.getOutputStream().flush();
			assertThat(client.getInputStream().readNBytes(2000)).hasSize(2000);
		}
		assertThat(DispatchApplication.aborted.await(30, TimeUnit.SECONDS)).isTrue();
		assertSettledOnce("tokens", 2, COST);
	}

	@Test
	void costsThatAreNeverSettledAreFreeAfterTheWindow() {
		this.application.get("/tokens/none");
		this.application.assertUsed("tokens", 10);
		this.application.advance(Duration.ofHours(1));
		this.application.assertUsed("tokens", 0);
	}

}
