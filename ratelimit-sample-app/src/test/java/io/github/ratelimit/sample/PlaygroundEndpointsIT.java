package io.github.ratelimit.sample;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What the playground needs of the application, over HTTP.
 */
@ExtendWith(OutputCaptureExtension.class)
class PlaygroundEndpointsIT {

	@AutoClose
	private static final Playground playground = new Playground();

	@Test
	void deniedRequestIsReadableFromOtherOrigins() {
		for (int i = 0; i < 5; i++) {
			assertThat(demo("stranger")).isEqualTo(200);
		}
		HttpResponse<Void> denied = playground.send("GET demo/sliding-log", "", BodyHandlers.discarding(), "X-Client",
				"stranger", "Origin", "https://example.com");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Access-Control-Allow-Origin")).hasValue("*");
		assertThat(denied.headers().firstValue("Access-Control-Expose-Headers"))
			.hasValue("RateLimit, RateLimit-Policy, Retry-After, X-Rate-Limit-Limit, X-Rate-Limit-Remaining");
	}

	@Test
	void keysOfClientAreShown() {
		assertThat(demo("one*")).isEqualTo(200);
		assertThat(demo("other")).isEqualTo(200);
		assertThat(playground.body("GET redis/keys?containing=X-Client:one%252A"))
			.matches("\\[\\{\"key\":\"ratelimit-sample-app:\\{header%3AX-Client:one%2A}:demo-sliding-log:sl-10s\","
					+ "\"bytes\":\\d+,\"ttlMillis\":\\d+}]");
		assertThat(playground.body("GET redis/keys?containing=one*")).isEqualTo("[]");
	}

	@Test
	void commandsAreShownAsRedisRunsThem() {
		try (Stream<String> lines = playground.send("GET redis/commands", "", BodyHandlers.ofLines()).body()) {
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
	void secondInstanceSharesQuotaAndChanges() {
		assertThat(playground.body("GET shared/second")).isEqualTo("{\"port\":0}");
		String started = playground.body("POST shared/second");
		assertThat(playground.body("POST shared/second")).isEqualTo(started);
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
		assertThat(change("1/d", "token-bucket&enabled=false")).isEmpty();
		assertThat(List.of(shared(second), shared(first))).containsExactly("200 of none", "200 of none");
		assertThat(change("1/d", "token-bucket")).isEmpty();
		assertThat(shared(second)).isEqualTo("429 of 1");
		assertThat(playground.status("GET " + second + "shared/second")).isEqualTo(404);
		assertThat(playground.body("DELETE shared/second")).isEqualTo("{\"port\":0}");
		assertThatException().isThrownBy(() -> shared(second)).withCauseInstanceOf(IOException.class);
	}

	private static String change(String limit, String algorithm) {
		return playground.body("PUT shared/policy?limit=%s&algorithm=%s".formatted(limit, algorithm));
	}

	/** Returns the status, and the quota that decided. */
	private static String shared(String url) {
		HttpResponse<Void> response = playground.send("GET " + url + "shared", "", BodyHandlers.discarding(),
				"X-Client", "sharing");
		return "%s of %s".formatted(response.statusCode(),
				response.headers().firstValue("X-Rate-Limit-Limit").orElse("none"));
	}

	@ParameterizedTest
	@CsvSource({ "often, sliding-log, Invalid limit (often)", "5/s, guess, Invalid algorithm (guess)",
			"200000/d, sliding-log, Invalid limit (200000/d)" })
	void refusedChangeSaysWhy(String limit, String algorithm, String reason) {
		String before = playground.body("GET actuator/ratelimits");
		assertThat(change(limit, algorithm)).startsWith(reason);
		assertThat(playground.body("GET actuator/ratelimits")).isEqualTo(before);
	}

	@Test
	void blockedClientIsDeniedUntilUnblocked() {
		String client = "identifier=header:X-Client:blocked&policy=more-block";
		assertThat(post("actuator/ratelimits/blocks", "application/json", """
				{"identifier": "header:X-Client:blocked", "policy": "more-block", "time": "1h"}""")).isEqualTo(200);
		assertThat(playground.status("GET more/block", "X-Client", "blocked")).isEqualTo(429);
		assertThat(playground.body("DELETE actuator/ratelimits/blocks?" + client)).contains("unblocked");
		assertThat(playground.status("GET more/block", "X-Client", "blocked")).isEqualTo(200);
	}

	@Test
	void rightPasswordClearsAccountAndNotAddress() {
		assertThat(Stream.of("W W W R W W W W W W".split(" "))
			.map((login) -> logIn("anna", login.equals("R") ? "right" : "guess")))
			.containsExactly(401, 401, 401, 200, 401, 401, 401, 401, 401, 429);
		assertThat(logIn("anna", "right")).isEqualTo(429);
		assertThat(playground.body("GET more/login?username=ANNA")).contains("\"account\":0", "\"address\":92");
	}

	private static int logIn(String account, String password) {
		return post("more/login", "application/x-www-form-urlencoded",
				"username=%s&password=%s".formatted(account, password));
	}

	private static int post(String path, String type, String body) {
		return playground.send("POST " + path, body, BodyHandlers.discarding(), "Content-Type", type).statusCode();
	}

	@Test
	void linkedDocumentationIsShown() {
		List<String> links = Pattern.compile("href=\"/(docs/[^\"]+)")
			.matcher(playground.body("GET index.html"))
			.results()
			.map((link) -> link.group(1))
			.toList();
		assertThat(links).hasSize(3);
		for (String link : links) {
			assertThat(playground.body("GET " + link)).startsWith("# ");
		}
		assertThat(playground.status("GET docs/no-page.md")).isEqualTo(404);
	}

	@Test
	void redisIsStoppedAndStarted(CapturedOutput output) {
		assertThat(playground.body("POST redis/stop")).isEqualTo("{\"running\":false}");
		assertThat(playground.body("GET redis")).isEqualTo("{\"running\":false}");
		assertThat(playground.status("GET outage/deny")).isEqualTo(503);
		assertThat(playground.status("GET outage/allow")).isEqualTo(200);
		assertThat(playground.status("GET outage/allow")).isEqualTo(200);
		assertThat(post("login", "application/json", "{\"username\": \"alice\", \"password\": \"wonderland\"}"))
			.isEqualTo(503);
		assertThat(logIn("bob", "right")).isEqualTo(503);
		assertThat(playground.status("GET more/login?username=bob")).isEqualTo(503);
		assertThat(playground.status("GET more/waiting?seconds=10", "X-Client", "outage")).isEqualTo(200);
		String before = output.getAll();
		for (int i = 0; i < 3; i++) {
			assertThat(playground.status("GET redis/keys?containing=one")).isEqualTo(503);
			assertThat(playground.body("GET redis/keys?containing=one")).isEqualTo("Redis does not answer\n");
			assertThat(playground.status("GET redis/commands")).isEqualTo(200);
		}
		assertThat(output.getAll().substring(before.length())).doesNotContain("\tat ", "ERROR");
		assertThat(playground.body("POST redis/start")).isEqualTo("{\"running\":true}");
		assertThat(playground.body("POST redis/start")).isEqualTo("{\"running\":true}");
		Awaitility.await().untilAsserted(() -> assertThat(playground.status("GET outage/deny")).isEqualTo(200));
	}

	private static int demo(String client) {
		return playground.status("GET demo/sliding-log", "X-Client", client);
	}

}
