package io.github.ratelimit.sample;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The application with a Redis of its own, on a free port. A busy machine must not make
 * it decide without Redis.
 */
final class Playground implements AutoCloseable {

	private final ConfigurableApplicationContext application = new SpringApplicationBuilder(SampleApplication.class)
		.run("--server.port=0", "--spring.main.banner-mode=off", "--ratelimit.redis.timeout=10s");

	String url() {
		return "http://localhost:%d/"
			.formatted(((ServletWebServerApplicationContext) this.application).getWebServer().getPort());
	}

	<T> T bean(Class<T> type) {
		return this.application.getBean(type);
	}

	@Override
	public void close() {
		this.application.close();
	}

}
