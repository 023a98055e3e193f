package io.github.ratelimit.spring.deployment;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that DevTools restarts in a new class loader, in a process of its own.
 */
class DevToolsRestartIT {

	private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");

	private static final String TRIGGER = "restart.trigger";

	private static final HttpClient client = HttpClient.newHttpClient();

	@Test
	void limitsAreEnforcedAfterRestartByTheSameCounts(@TempDir Path directory) throws Exception {
		Files.writeString(directory.resolve(TRIGGER), "1");
		Process process = start(directory);
		try (BufferedReader output = process.inputReader()) {
			int port = port(output);
			assertThat(get(port, "/path").statusCode()).isEqualTo(200);
			assertThat(get(port, "/annotated").statusCode()).isEqualTo(200);
			// The trigger alone restarts nothing: DevTools wants another file to have
			// changed
			Files.writeString(directory.resolve("changed.properties"), "changed=true");
			Files.writeString(directory.resolve(TRIGGER), "2 is longer");
			port = port(output);
			assertThat(get(port, "/path").statusCode()).isEqualTo(429);
			assertThat(get(port, "/annotated").statusCode()).isEqualTo(429);
		}
		finally {
			process.destroyForcibly().waitFor();
		}
	}

	private static Process start(Path directory) throws IOException {
		String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-cp", directory + System.getProperty("path.separator") + classPath,
				Application.class.getName(), "--server.port=0", "--server.address=127.0.0.1",
				"--spring.devtools.restart.trigger-file=" + TRIGGER, "--spring.devtools.restart.poll-interval=200ms",
				"--spring.devtools.restart.quiet-period=100ms", "--spring.devtools.livereload.enabled=false",
				"--ratelimit.redis.url=" + TestRedis.uri(), "--ratelimit.redis.timeout=20s",
				"--ratelimit.key-prefix=" + TestRedis.newKeyPrefix(), "--ratelimit.policies.path.paths=/path",
				"--ratelimit.policies.path.limits=1/d")
			.redirectErrorStream(true)
			.start();
		// An application that hangs ends its output, so that the test fails instead of
		// waiting for the next line
		CompletableFuture.delayedExecutor(2, TimeUnit.MINUTES).execute(process::destroyForcibly);
		return process;
	}

	private static int port(BufferedReader output) throws IOException {
		StringBuilder log = new StringBuilder();
		for (String line = output.readLine(); line != null; line = output.readLine()) {
			log.append(line).append('\n');
			Matcher matcher = STARTED.matcher(line);
			if (matcher.find()) {
				return Integer.parseInt(matcher.group(1));
			}
		}
		throw new AssertionError("The application did not start, or not again, within two minutes:\n" + log);
	}

	private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
		URI uri = URI.create("http://127.0.0.1:" + port + path);
		return client.send(HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(1)).build(), BodyHandlers.ofString());
	}

	@OpenApplication
	@RestController
	static class Application {

		public static void main(String[] args) {
			SpringApplication.run(Application.class, args);
		}

		@GetMapping("/path")
		void path() {
		}

		@GetMapping("/annotated")
		@RateLimited(limits = "1/d")
		void annotated() {
		}

	}

}
