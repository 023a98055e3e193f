package io.github.ratelimit.spring.actuate;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A web application with an actuator, on a real Tomcat.
 */
final class ActuatorApplication implements AutoCloseable {

	private static final HttpClient client = HttpClient.newHttpClient();

	private final ConfigurableApplicationContext context;

	private ActuatorApplication(String... properties) {
		List<String> all = new ArrayList<>(List.of("server.port=0", "spring.main.banner-mode=off",
				"ratelimit.redis.timeout=2s", "ratelimit.policies.api.paths=/api",
				"ratelimit.policies.api.limits=3/d,5/2d", "ratelimit.policies.api.algorithm=sliding-log",
				"ratelimit.policies.api.identifiers=ip,header:X-User", "ratelimit.policies.series.limits=2/d",
				"ratelimit.policies.series.algorithm=fixed-window", "ratelimit.policies.series.retain=3",
				"ratelimit.policies.series.mode=shadow", "ratelimit.policies.series.on-store-failure=deny",
				"ratelimit.policies.series.identifiers=header:X-User", "ratelimit.policies.login.limits=5/15m",
				"ratelimit.policies.login.on-store-failure=deny"));
		all.addAll(List.of(properties));
		this.context = new SpringApplicationBuilder(Application.class)
			.run(all.stream().map((property) -> "--" + property).toArray(String[]::new));
	}

	static ActuatorApplication start(String... properties) {
		return new ActuatorApplication(properties);
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	Response get(String path, String... headers) {
		return send("GET", path, null, headers);
	}

	Response delete(String path) {
		return send("DELETE", path, null);
	}

	Response post(String path, String json) {
		return send("POST", path, json, "Content-Type", "application/json");
	}

	/** Posts without a type of JSON, as {@code curl -d} does. */
	Response form(String path, String body) {
		return send("POST", path, body, "Content-Type", "application/x-www-form-urlencoded");
	}

	private Response send(String method, String path, @Nullable String body, String... headers) {
		int port = ((ServletWebServerApplicationContext) this.context).getWebServer().getPort();
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
			.method(method, (body != null) ? BodyPublishers.ofString(body) : BodyPublishers.noBody());
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		HttpResponse<String> response = client.sendAsync(request.build(), BodyHandlers.ofString()).join();
		return new Response(response.statusCode(), response.body());
	}

	static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

	@Override
	public void close() {
		this.context.close();
	}

	record Response(int status, String body) {

		JsonNode json() {
			return JsonMapper.shared().readTree(this.body);
		}

	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api")
		String api() {
			return "served";
		}

		@GetMapping("/served/{what}")
		String served() {
			return "served";
		}

		@GetMapping("/search")
		@RateLimited(limits = "1/d")
		String search() {
			return "served";
		}

		@GetMapping("/login")
		@RateLimited(policy = "login", identifiers = "header:X-User")
		String login() {
			return "served";
		}

	}

}
