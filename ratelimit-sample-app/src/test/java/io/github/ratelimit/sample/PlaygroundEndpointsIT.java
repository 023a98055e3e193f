package io.github.ratelimit.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * What the playground needs of the application, over HTTP.
 */
@ExtendWith(OutputCaptureExtension.class)
class PlaygroundEndpointsIT {

	private static final HttpClient http = HttpClient.newHttpClient();

	private static Playground playground;

	@BeforeAll
	static void start() {
		playground = new Playground();
	}

	@AfterAll
	static void stop() {
		playground.close();
	}

	@Test
	void deniedRequestIsReadableFromOtherOrigins() throws Exception {
		for (int i = 0; i < 5; i++) {
			assertThat(demo("stranger")).isEqualTo(200);
		}
		HttpResponse<Void> denied = http.send(
				request("GET", "demo/sliding-log", "", "X-Client", "stranger", "Origin", "https://example.com"),
				BodyHandlers.discarding());
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Access-Control-Allow-Origin")).hasValue("*");
		assertThat(denied.headers().firstValue("Access-Control-Expose-Headers"))
			.hasValue("RateLimit, RateLimit-Policy, Retry-After, X-Rate-Limit-Limit, X-Rate-Limit-Remaining");
	}

	@Test
	void keysOfClientAreShown() throws Exception {
		assertThat(demo("one*")).isEqualTo(200);
		assertThat(demo("other")).isEqualTo(200);
		assertThat(send("GET", "redis/keys?containing=X-Client:one%252A"))
			.matches("\\[\\{\"key\":\"ratelimit-sample-app:\\{header%3AX-Client:one%2A}:demo-sliding-log:sl-10s\","
					+ "\"bytes\":\\d+,\"ttlMillis\":\\d+}]");
		assertThat(send("GET", "redis/keys?containing=one*")).isEqualTo("[]");
	}

	@Test
	void commandsAreShownAsRedisRunsThem() throws Exception {
		HttpResponse<Stream<String>> response = http.send(request("GET", "redis/commands", ""), BodyHandlers.ofLines());
		try (Stream<String> lines = response.body()) {
			Iterator<String> line = lines.iterator();
			assertThat(line.next()).isEqualTo("event:ready");
			assertThat(demo("watched")).isEqualTo(200);
			String command = line.next();
			while (!command.contains("X-Client:watched")) {
				command = line.next();
			}
			assertThat(command).startsWith("data:").contains("\"EVALSHA\"", "demo-sliding-log");
		}
	}

	@Test
	void secondInstanceSharesQuotaAndChanges() throws Exception {
		assertThat(send("GET", "shared/second")).isEqualTo("{\"port\":0}");
		String started = send("POST", "shared/second");
		assertThat(send("POST", "shared/second")).isEqualTo(started);
		String first = playground.url();
		String second = "http://localhost:%s/".formatted(started.replaceAll("\\D", ""));
		assertThat(change("2/d", "sliding-log")).isEmpty();
		assertThat(List.of(shared(first), shared(second), shared(first), shared(second))).containsExactly("200 of 2",
				"200 of 2", "429 of 2", "429 of 2");
		assertThat(change("4/d", "sliding-log")).isEmpty();
		assertThat(List.of(shared(second), shared(first), shared(second))).containsExactly("200 of 4", "200 of 4",
				"429 of 4");
		assertThat(change("1/d", "token-bucket")).isEmpty();
		assertThat(List.of(shared(second), shared(first))).containsExactly("200 of 1", "429 of 1");
		assertThat(status(second + "shared/second")).isEqualTo(404);
		assertThat(send("DELETE", "shared/second")).isEqualTo("{\"port\":0}");
		assertThatIOException().isThrownBy(() -> shared(second));
	}

	private static String change(String limit, String algorithm) throws IOException, InterruptedException {
		return send("PUT", "shared/policy?limit=%s&algorithm=%s".formatted(limit, algorithm));
	}

	/** Returns the status, and the quota that decided. */
	private static String shared(String url) throws IOException, InterruptedException {
		HttpResponse<Void> response = http.send(request("GET", url + "shared", "", "X-Client", "sharing"),
				BodyHandlers.discarding());
		return "%s of %s".formatted(response.statusCode(),
				response.headers().firstValue("X-Rate-Limit-Limit").orElse("none"));
	}

	@ParameterizedTest
	@CsvSource({ "often, sliding-log, Invalid limit (often)", "5/s, guess, Invalid algorithm (guess)",
			"200000/d, sliding-log, Invalid limit (200000/d)" })
	void refusedChangeSaysWhy(String limit, String algorithm, String reason) throws Exception {
		String before = send("GET", "actuator/ratelimits");
		assertThat(change(limit, algorithm)).startsWith(reason);
		assertThat(send("GET", "actuator/ratelimits")).isEqualTo(before);
	}

	@Test
	void blockedClientIsDeniedUntilUnblocked() throws Exception {
		String client = "identifier=header:X-Client:blocked&policy=more-block";
		assertThat(http
			.send(request("POST", "actuator/ratelimits/blocks", """
					{"identifier": "header:X-Client:blocked", "policy": "more-block", "time": "1h"}""", "Content-Type",
					"application/json"), BodyHandlers.discarding())
			.statusCode()).isEqualTo(200);
		assertThat(status("more/block", "X-Client", "blocked")).isEqualTo(429);
		assertThat(send("DELETE", "actuator/ratelimits/blocks?" + client)).contains("unblocked");
		assertThat(status("more/block", "X-Client", "blocked")).isEqualTo(200);
	}

	@Test
	void redisIsStoppedAndStarted(CapturedOutput output) throws Exception {
		assertThat(send("POST", "redis/stop")).isEqualTo("{\"running\":false}");
		assertThat(send("GET", "redis")).isEqualTo("{\"running\":false}");
		assertThat(status("outage/deny")).isEqualTo(503);
		assertThat(status("outage/allow")).isEqualTo(200);
		assertThat(status("outage/allow")).isEqualTo(200);
		assertThat(http
			.send(request("POST", "login", "{\"username\": \"alice\", \"password\": \"wonderland\"}", "Content-Type",
					"application/json"), BodyHandlers.discarding())
			.statusCode()).isEqualTo(503);
		String before = output.getAll();
		for (int i = 0; i < 3; i++) {
			assertThat(status("redis/keys?containing=one")).isEqualTo(503);
			assertThat(send("GET", "redis/keys?containing=one")).isEqualTo("Redis does not answer\n");
			assertThat(status("redis/commands")).isEqualTo(200);
		}
		assertThat(output.getAll().substring(before.length())).doesNotContain("\tat ", "ERROR");
		assertThat(send("POST", "redis/start")).isEqualTo("{\"running\":true}");
		assertThat(send("POST", "redis/start")).isEqualTo("{\"running\":true}");
		Awaitility.await().untilAsserted(() -> assertThat(status("outage/deny")).isEqualTo(200));
	}

	private static int demo(String client) throws IOException, InterruptedException {
		return status("demo/sliding-log", "X-Client", client);
	}

	private static int status(String path, String... headers) throws IOException, InterruptedException {
		return http.send(request("GET", path, "", headers), BodyHandlers.discarding()).statusCode();
	}

	private static String send(String method, String path) throws IOException, InterruptedException {
		return http.send(request(method, path, ""), BodyHandlers.ofString()).body();
	}

	private static HttpRequest request(String method, String path, String body, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(playground.url()).resolve(path))
			.method(method, HttpRequest.BodyPublishers.ofString(body));
		return ((headers.length > 0) ? request.headers(headers) : request).build();
	}

}
