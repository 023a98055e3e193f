package io.github.ratelimit.sample;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The application with a Redis of its own, on a free port. A busy machine must not make
 * it decide without Redis.
 */
final class Playground implements AutoCloseable {

	private final HttpClient http = HttpClient.newHttpClient();

	private final ConfigurableApplicationContext application;

	Playground(String... arguments) {
		// As arguments, which its second instance has as well.
		this.application = SpringApplication.run(SampleApplication.class,
				Stream
					.concat(Stream.of("--server.port=0", "--spring.main.banner-mode=off",
							"--ratelimit.redis.timeout=10s"), Stream.of(arguments))
					.toArray(String[]::new));
	}

	int port() {
		return this.application.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
	}

	String url() {
		return "http://localhost:%d/".formatted(port());
	}

	<T> T bean(Class<T> type) {
		return this.application.getBean(type);
	}

	<T> Map<String, T> beans(Class<T> type) {
		return this.application.getBeansOfType(type);
	}

	UnifiedJedis redis() {
		return RedisClient.create(LocalRedis.HOST, bean(RedisServer.class).ports().get(0));
	}

	/**
	 * Sends a request.
	 * @param request the method and a path or URL, such as {@code GET outage/deny}
	 * @param body empty for none
	 * @param headers names and values in turn
	 */
	<T> HttpResponse<T> send(String request, String body, BodyHandler<T> answer, String... headers) {
		String[] words = request.split(" ");
		HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url()).resolve(words[1]))
			.timeout(Duration.ofMinutes(2))
			.method(words[0], BodyPublishers.ofString(body));
		return this.http.sendAsync(((headers.length > 0) ? builder.headers(headers) : builder).build(), answer).join();
	}

	/** Returns the body that answers a request. */
	String body(String request) {
		return send(request, "", BodyHandlers.ofString()).body();
	}

	/** Returns the status that answers a request. */
	int status(String request, String... headers) {
		return send(request, "", BodyHandlers.discarding(), headers).statusCode();
	}

	@Override
	public void close() {
		this.application.close();
	}

}
