package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.ObservedRateLimiter;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import jakarta.servlet.Filter;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A web application on a real Tomcat or Jetty, whose requests are counted on a real Redis
 * by a stopped clock.
 */
final class TestApplication implements AutoCloseable {

	/** Much longer than anything takes, and much shorter than for ever. */
	private static final Duration SOON = Duration.ofSeconds(30);

	/** Longer than a response takes on a busy machine. */
	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	/** Longer than it takes to settle costs. */
	private static final Duration MOMENT = Duration.ofMillis(20);

	private static final HttpClient client = HttpClient.newHttpClient();

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final Queue<RateLimitRequest> decisions = new ConcurrentLinkedQueue<>();

	private final Queue<RateLimitRequest> settlements = new ConcurrentLinkedQueue<>();

	private final Container container;

	private final ConfigurableApplicationContext context;

	/**
	 * Starts an application.
	 * @param ownLimiter whether its requests are counted as its properties say
	 */
	TestApplication(Container container, Class<?> configuration, boolean ownLimiter, Map<String, Object> properties) {
		this.container = container;
		Map<String, Object> map = new LinkedHashMap<>(properties);
		RateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
			.withClock(this.clock);
		this.context = new SpringApplicationBuilder(container.configuration(), configuration)
			.properties("server.port=0", "spring.main.banner-mode=off",
					"spring.autoconfigure.exclude=" + ManagementWebSecurityAutoConfiguration.class.getName())
			.initializers((context) -> {
				if (ownLimiter) {
					map.putIfAbsent("ratelimit.redis.url", TestRedis.uri());
					map.putIfAbsent("ratelimit.key-prefix", TestRedis.newKeyPrefix());
					// The machine may be busy.
					map.putIfAbsent("ratelimit.redis.timeout", "20s");
				}
				context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", map));
				if (!ownLimiter) {
					((GenericApplicationContext) context).registerBean(RateLimiter.class,
							() -> new ObservedRateLimiter(redis, this.decisions::add, this.settlements::add));
				}
			})
			.run();
	}

	static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return new TestApplication(container, configuration, false, map(properties));
	}

	/** Starts an application whose requests are counted as its properties say. */
	static TestApplication startWithOwnLimiter(Class<?> configuration, String... properties) {
		return new TestApplication(Container.TOMCAT, configuration, true, map(properties));
	}

	/** Reads properties, each as {@code name=value} or as YAML. */
	private static Map<String, Object> map(String... properties) {
		Map<String, Object> map = new LinkedHashMap<>();
		for (String property : properties) {
			if (property.matches("[\\w.\\[\\]-]+=.*")) {
				int end = property.lastIndexOf('=');
				map.put(property.substring(0, end), property.substring(end + 1));
			}
			else {
				map.putAll(yaml(property));
			}
		}
		return map;
	}

	static Map<String, Object> yaml(String yaml) {
		YamlPropertiesFactoryBean factory = new YamlPropertiesFactoryBean();
		factory.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
		Map<String, Object> properties = new LinkedHashMap<>();
		Objects.requireNonNull(factory.getObject()).forEach((name, value) -> properties.put((String) name, value));
		return properties;
	}

	Container container() {
		return this.container;
	}

	HttpResponse<String> get(String path, String... headers) {
		return send("GET", path, headers);
	}

	/** Sends a request with a login such as "anna:secret" by HTTP Basic. */
	HttpResponse<String> getAs(String login, String path, String... headers) {
		String basic = "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
		return get(path, Stream.concat(Stream.of("Authorization", basic), Stream.of(headers)).toArray(String[]::new));
	}

	/** The statuses of requests that are sent one after another. */
	List<Integer> statuses(int times, String path, String... headers) {
		return IntStream.range(0, times).mapToObj((i) -> get(path, headers).statusCode()).toList();
	}

	HttpResponse<String> send(String method, String path, String... headers) {
		return send(method, path, BodyPublishers.noBody(), headers);
	}

	HttpResponse<String> send(String method, String path, BodyPublisher body, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
			.method(method, body)
			.timeout(TIMEOUT);
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		return client.sendAsync(request.build(), BodyHandlers.ofString()).join();
	}

	/**
	 * Sends bytes as no client would, and returns all that comes until the server closes
	 * the connection.
	 * @param request begins with the line of the request, without its version
	 * @param message further headers, and the body after an empty line
	 */
	String sendRaw(String request, String... message) {
		try (Socket socket = connect()) {
			socket.getOutputStream()
				.write((request + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
						+ ((message.length == 0) ? "\r\n" : message[0]))
					.getBytes(StandardCharsets.UTF_8));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(request, ex);
		}
	}

	Socket connect() throws IOException {
		Socket socket = new Socket("127.0.0.1", port());
		socket.setSoTimeout((int) TIMEOUT.toMillis());
		return socket;
	}

	int port() {
		return ((ServletWebServerApplicationContext) this.context).getWebServer().getPort();
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	void advance(Duration time) {
		this.clock.advance(time);
	}

	void setTime(String time) {
		this.clock.set(time);
	}

	/** Lets so much time pass that nothing counts any more. */
	void forget() {
		advance(Duration.ofDays(10));
		this.decisions.clear();
		this.settlements.clear();
	}

	/** How many decisions were asked for since the last {@link #forget()}. */
	int decisions() {
		return this.decisions.size();
	}

	/** How often the policy was asked since the last {@link #forget()}. */
	long decisions(String policy) {
		return count(this.decisions, policy);
	}

	/**
	 * How often the policy was refunded, or charged after a decision, since the last
	 * {@link #forget()}.
	 */
	long settlements(String policy) {
		return count(this.settlements, policy);
	}

	private static long count(Queue<RateLimitRequest> requests, String policy) {
		return requests.stream()
			.flatMap((request) -> request.charges().stream())
			.filter((charge) -> charge.policy().name().equals(policy))
			.count();
	}

	/**
	 * Asserts what this host has used of the first limit of a policy. The client may have
	 * its response a moment before costs are settled.
	 */
	void assertUsed(String policy, long used) {
		assertUsed(policy, Identifier.ip("127.0.0.1"), used);
	}

	void assertUsed(String policy, Identifier identifier, long used) {
		Policy counted = bean(ConfiguredPolicies.class).find(policy).orElseThrow().policy();
		RateLimitRequest request = RateLimitRequest.of(counted, identifier);
		long remaining = counted.limits().get(0).quota() - used;
		await().atMost(SOON)
			.pollDelay(MOMENT)
			.pollInterval(MOMENT)
			.untilAsserted(() -> assertThat(bean(RateLimiter.class).peek(request).statuses().get(0).remaining())
				.isEqualTo(remaining));
	}

	@Override
	public void close() {
		this.context.close();
	}

	/** The container, for the names of tests. */
	@Override
	public String toString() {
		return this.container.toString();
	}

	/** Registers a filter at a place among others, for all paths or for some. */
	static <F extends Filter> FilterRegistrationBean<F> filterAt(int order, F filter, String... patterns) {
		FilterRegistrationBean<F> registration = new FilterRegistrationBean<>(filter);
		registration.setOrder(order);
		registration.addUrlPatterns(patterns);
		return registration;
	}

	@OpenApplication
	@Import(HeaderLogin.class)
	@RestController
	static class Served {

		@RequestMapping("/**")
		String serve() {
			return "served";
		}

	}

	/** Serves all paths, and one by a method of the policy {@code method}. */
	static class WithMethod extends Served {

		@GetMapping("/method")
		@RateLimited("method")
		String method() {
			return "served";
		}

	}

	/**
	 * The applications that the tests of a class share: one for each configuration with
	 * its properties, started by the first test that needs it, and closed after the last
	 * test.
	 */
	static final class Shared implements AfterAllCallback {

		private final Map<List<Object>, TestApplication> applications = new HashMap<>();

		/** Returns an application in which nothing is counted yet. */
		TestApplication get(Class<?> configuration, String... properties) {
			return get(Container.TOMCAT, configuration, properties);
		}

		TestApplication get(Container container, Class<?> configuration, String... properties) {
			TestApplication application = this.applications.computeIfAbsent(
					List.of(container, configuration, List.of(properties)),
					(key) -> TestApplication.start(container, configuration, properties));
			application.forget();
			return application;
		}

		@Override
		public void afterAll(ExtensionContext context) {
			this.applications.values().forEach(TestApplication::close);
		}

	}

}
