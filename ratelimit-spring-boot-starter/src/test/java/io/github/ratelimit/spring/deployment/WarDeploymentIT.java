package io.github.ratelimit.spring.deployment;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Set;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.TestRedis;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.support.SpringBootServletInitializer;
import org.springframework.web.SpringServletContainerInitializer;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.support.WebApplicationContextUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application in a WAR, which somebody else's Tomcat starts.
 */
class WarDeploymentIT {

	private static final HttpClient client = HttpClient.newHttpClient();

	private static Tomcat tomcat;

	private static Context war;

	@BeforeAll
	static void start(@TempDir Path directory) throws LifecycleException {
		tomcat = new Tomcat();
		tomcat.setBaseDir(directory.toString());
		tomcat.setPort(0);
		tomcat.getConnector().setProperty("address", "127.0.0.1");
		war = tomcat.addContext("/shop", directory.toString());
		war.addServletContainerInitializer(new SpringServletContainerInitializer(), Set.of(Initializer.class));
		tomcat.start();
	}

	@AfterAll
	static void stop() throws LifecycleException {
		tomcat.stop();
		tomcat.destroy();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/shop/path", "/shop/annotated" })
	void limitsAreEnforced(String path) throws Exception {
		assertThat(get(path).statusCode()).isEqualTo(200);
		HttpResponse<String> denied = get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).isPresent();
	}

	@Test
	void costsAreSettled() throws Exception {
		get("/shop/login/401");
		get("/shop/login/200");
		WebApplicationContext context = WebApplicationContextUtils
			.getRequiredWebApplicationContext(war.getServletContext());
		RateLimitRequest request = RateLimitRequest.of(
				context.getBean(ConfiguredPolicies.class).find("login").orElseThrow().policy(),
				Identifier.ip("127.0.0.1"));
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(context.getBean(RateLimiter.class).peek(request).statuses().get(0).remaining())
						.isEqualTo(9));
	}

	private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
		URI uri = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path);
		return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
	}

	static class Initializer extends SpringBootServletInitializer {

		@Override
		protected SpringApplicationBuilder configure(SpringApplicationBuilder builder) {
			return builder.sources(Application.class)
				.properties("spring.main.banner-mode=off", "ratelimit.redis.url=" + TestRedis.uri(),
						"ratelimit.redis.timeout=20s", "ratelimit.key-prefix=" + TestRedis.newKeyPrefix(),
						"ratelimit.policies.path.paths=/path", "ratelimit.policies.path.limits=1/d",
						"ratelimit.policies.login.paths=/login/**", "ratelimit.policies.login.limits=10/d",
						"ratelimit.policies.login.count-when=status in [401]");
		}

	}

	@OpenApplication
	@RestController
	static class Application {

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
