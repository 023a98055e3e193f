package io.github.ratelimit.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;

import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.client.RateLimitClientAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.spring.web.RateLimitWebAutoConfiguration;
import io.github.ratelimit.test.ManualClock;

import org.springframework.boot.ApplicationContextFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.context.servlet.AnnotationConfigServletWebApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.mock.web.MockServletContext;

/**
 * Runners of applications with all that the starter configures, but its actuator. They
 * contact no server.
 */
public final class StarterRunners {

	private static final AutoConfigurations STARTER = AutoConfigurations
		.of(Starter.class.getAnnotation(ImportAutoConfiguration.class).value());

	private StarterRunners() {
	}

	/** An application that serves requests. */
	public static WebApplicationContextRunner web() {
		return new WebApplicationContextRunner().withConfiguration(STARTER);
	}

	/** An application that serves no requests. */
	public static ApplicationContextRunner nonWeb() {
		return new ApplicationContextRunner().withConfiguration(STARTER);
	}

	/**
	 * An application that prints why it does not start. It serves requests, but on no
	 * port.
	 */
	public static SpringApplicationBuilder application(Class<?> configuration) {
		return new SpringApplicationBuilder(configuration, Starter.class).web(WebApplicationType.SERVLET)
			.contextFactory((type) -> (type == WebApplicationType.SERVLET) ? withoutServer()
					: ApplicationContextFactory.DEFAULT.create(type))
			.properties("spring.main.banner-mode=off");
	}

	private static ConfigurableApplicationContext withoutServer() {
		AnnotationConfigServletWebApplicationContext context = new AnnotationConfigServletWebApplicationContext();
		context.setServletContext(new MockServletContext());
		return context;
	}

	/**
	 * An application that serves no requests, and counts all calls together in memory.
	 */
	public static ApplicationContextRunner inMemory() {
		return inMemory(new ManualClock("2026-01-01T00:00:00Z"));
	}

	/**
	 * An application that serves no requests, and counts all calls together in memory.
	 */
	public static ApplicationContextRunner inMemory(InstantSource clock) {
		return nonWeb().withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(clock))
			.withPropertyValues("ratelimit.defaults.identifiers=global");
	}

	/** Returns the properties of a file. */
	public static List<PropertySource<?>> yaml(String name, String text) {
		try {
			return new YamlPropertySourceLoader().load(name,
					new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** All that the starter configures, with counts in memory. */
	@Configuration(proxyBeanMethods = false)
	@Import(Starter.class)
	public static class InMemory {

		@Bean
		MemoryRateLimiter rateLimiter() {
			return new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
			RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
			RateLimitWebAutoConfiguration.class, RateLimitNonWebAutoConfiguration.class,
			RateLimitClientAutoConfiguration.class })
	private static final class Starter {

	}

}
