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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.TestRedis;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.support.SpringBootServletInitializer;
import org.springframework.context.ApplicationContext;
import org.springframework.web.SpringServletContainerInitializer;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.WebApplicationContextUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application in a WAR, which somebody else's Tomcat starts, and one that DevTools
 * restarts in a new class loader, in a process of its own.
 */
class DeploymentIT {

	private static final String[] PROPERTIES = { "ratelimit.redis.url=" + TestRedis.uri(),
			"ratelimit.redis.timeout=20s", "ratelimit.policies.path.paths=/path", "ratelimit.policies.path.limits=1/d",
			"ratelimit.policies.login.paths=/login/**", "ratelimit.policies.login.limits=10/d",
			"ratelimit.policies.login.count-when=status in [401]" };

	private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");

	private static final String TRIGGER = "restart.trigger";

	private static final HttpClient client = HttpClient.newHttpClient();

	@Test
	void limitsAreEnforcedAndCostsAreSettledInWar(@TempDir Path directory) throws Exception {
		Tomcat tomcat = new Tomcat();
		tomcat.setBaseDir(directory.toString());
		tomcat.setPort(0);
		tomcat.getConnector().setProperty("address", "127.0.0.1");
		Context war = tomcat.addContext("/shop", directory.toString());
		war.addServletContainerInitializer(new SpringServletContainerInitializer(), Set.of(Initializer.class));
		tomcat.start();
		try {
			int port = tomcat.getConnector().getLocalPort();
			for (String path : List.of("/shop/path", "/shop/annotated")) {
				assertThat(get(port, path).statusCode()).isEqualTo(200);
				HttpResponse<String> denied = get(port, path);
				assertThat(denied.statusCode()).isEqualTo(429);
				assertThat(denied.headers().firstValue("Retry-After")).isPresent();
			}
			get(port, "/shop/login/401");
			get(port, "/shop/login/200");
			Awaitility.await().untilAsserted(() -> assertThat(leftLogins(war)).isEqualTo(9));
		}
		finally {
			tomcat.stop();
			tomcat.destroy();
		}
	}

	private static long leftLogins(Context war) {
		ApplicationContext context = WebApplicationContextUtils
			.getRequiredWebApplicationContext(war.getServletContext());
		Policy policy = context.getBean(ConfiguredPolicies.class).find("login").orElseThrow().policy();
		return context.getBean(RateLimiter.class)
			.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1")))
			.statuses()
			.get(0)
			.remaining();
	}

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
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1", "-cp",
				directory + System.getProperty("path.separator") + classPath, Application.class.getName(),
				"--server.port=0", "--server.address=127.0.0.1", "--spring.devtools.restart.trigger-file=" + TRIGGER,
				"--spring.devtools.restart.poll-interval=200ms", "--spring.devtools.restart.quiet-period=100ms",
				"--spring.devtools.livereload.enabled=false", "--ratelimit.key-prefix=" + TestRedis.newKeyPrefix()));
		Stream.of(PROPERTIES).map((property) -> "--" + property).forEach(command::add);
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
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

	static class Initializer extends SpringBootServletInitializer {

		@Override
		protected SpringApplicationBuilder configure(SpringApplicationBuilder builder) {
			return builder.sources(Application.class)
				.properties("spring.main.banner-mode=off", "ratelimit.key-prefix=" + TestRedis.newKeyPrefix())
				.properties(PROPERTIES);
		}

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

		@GetMapping("/login/{status}")
		void login(@PathVariable int status, HttpServletResponse response) {
			response.setStatus(status);
		}

	}

}
