package io.github.ratelimit.spring.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Several instances of an application, which share a Redis.
 */
final class Fleet implements AutoCloseable {

	/** More than any test uses up. */
	static final long QUOTA = 1_000_000_000;

	private final HttpClient client = HttpClient.newHttpClient();

	private final List<ConfigurableApplicationContext> instances;

	Fleet(int size, String... properties) {
		this.instances = IntStream.range(0, size).mapToObj((instance) -> start(properties)).toList();
	}

	private static ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "spring.main.banner-mode=off", "ratelimit.policies.api.paths=/api",
					"ratelimit.policies.api.algorithm=fixed-window", "ratelimit.policies.api.limits=" + QUOTA + "/365d",
					"ratelimit.policies.api.identifiers=header:X-User")
			.properties(properties)
			.run();
	}

	/** Where each instance answers. */
	List<URI> addresses() {
		return this.instances.stream()
			.map((instance) -> ((ServletWebServerApplicationContext) instance).getWebServer().getPort())
			.map((port) -> URI.create("http://127.0.0.1:" + port + "/api"))
			.toList();
	}

	/** Whether every instance limits the next request, and says so in its metrics. */
	boolean limits() {
		return addresses().stream().allMatch((address) -> remaining(address, "somebody else").isPresent())
				&& all("ratelimit.store.failing", 0) && all("ratelimit.breaker.open", 0);
	}

	/** Whether the metrics of every instance say that limits are not enforced. */
	boolean reportsOutage() {
		return all("ratelimit.store.failing", 1);
	}

	private boolean all(String gauge, double value) {
		return this.instances.stream()
			.allMatch((instance) -> instance.getBean(MeterRegistry.class).get(gauge).gauge().value() == value);
	}

	/** How much of the quota a user has used before this request. */
	long used(String user) {
		return QUOTA - 1 - remaining(addresses().get(0), user).orElseThrow();
	}

	private OptionalLong remaining(URI address, String user) {
		try {
			HttpResponse<String> response = this.client
				.send(HttpRequest.newBuilder(address).header("X-User", user).build(), BodyHandlers.ofString());
			return response.headers().firstValueAsLong("X-Rate-Limit-Remaining");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.instances.forEach(ConfigurableApplicationContext::close);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { ServletWebSecurityAutoConfiguration.class,
			UserDetailsServiceAutoConfiguration.class, ManagementWebSecurityAutoConfiguration.class })
	@RestController
	static class Application {

		@GetMapping("/api")
		String get() {
			return "served";
		}

		@Bean
		static MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

}
