package io.github.ratelimit.sample;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Changes the policy {@code shared} while it is enforced, and starts a second instance
 * that shares its quota: another application in this process, with a port, a limiter and
 * connections of its own. The two have only the settings and Redis in common.
 */
@RestController
@RequestMapping("/shared")
@ConditionalOnBooleanProperty(name = SharedController.IS_FIRST, matchIfMissing = true)
class SharedController implements DisposableBean {

	static final String IS_FIRST = "sample.first-instance";

	/** The settings that were changed, which come before those of all other sources. */
	private final Map<String, Object> changed = new ConcurrentHashMap<>();

	private final ConfigurableApplicationContext first;

	private final ApplicationArguments arguments;

	private @Nullable ConfigurableApplicationContext second;

	SharedController(ConfigurableApplicationContext first, ApplicationArguments arguments) {
		this.first = first;
		this.arguments = arguments;
		readChanged(first);
	}

	private void readChanged(ConfigurableApplicationContext instance) {
		sources(instance).addFirst(new MapPropertySource("changed", this.changed));
	}

	private static MutablePropertySources sources(ConfigurableApplicationContext instance) {
		return instance.getEnvironment().getPropertySources();
	}

	/**
	 * Does what an application does when its configuration has changed. With Spring
	 * Cloud, its property sources change, and an {@code EnvironmentChangeEvent} tells so.
	 */
	@PutMapping("/policy")
	synchronized void change(@RequestParam String limit, @RequestParam String algorithm,
			@RequestParam(defaultValue = "true") boolean enabled) {
		Algorithm known = Algorithms.find(algorithm)
			.orElseThrow(() -> new IllegalArgumentException("Invalid algorithm (%s): must be one of %s."
				.formatted(algorithm, Algorithms.all().stream().map(Algorithm::name).toList())));
		// A refresh only logs what it refuses.
		Policy.of("shared", known, Limit.parse(limit));
		this.changed.put("ratelimit.policies.shared.limits", limit);
		this.changed.put("ratelimit.policies.shared.algorithm", algorithm);
		this.changed.put("ratelimit.policies.shared.enabled", enabled);
		this.first.publishEvent(new RefreshPoliciesEvent(this));
		if (this.second != null) {
			this.second.publishEvent(new RefreshPoliciesEvent(this));
		}
	}

	@ExceptionHandler(IllegalArgumentException.class)
	@ResponseStatus(HttpStatus.BAD_REQUEST)
	@Nullable String invalid(IllegalArgumentException ex) {
		return ex.getMessage();
	}

	/** Returns the port of the second instance; 0 if it does not run. */
	@GetMapping("/second")
	synchronized Map<String, Integer> second() {
		return Map.of("port", (this.second != null)
				? this.second.getEnvironment().getRequiredProperty("local.server.port", Integer.class) : 0);
	}

	@PostMapping("/second")
	synchronized Map<String, Integer> start() {
		if (this.second == null) {
			Map<String, Object> redis = (sources(this.first).get(LocalRedis.NAME) instanceof MapPropertySource local)
					? local.getSource() : Map.of();
			this.second = new SpringApplicationBuilder(SampleApplication.class).bannerMode(Banner.Mode.OFF)
				.properties(redis)
				.initializers(this::makeSecond)
				.run(this.arguments.getSourceArgs());
		}
		return second();
	}

	private void makeSecond(ConfigurableApplicationContext instance) {
		sources(instance).addFirst(new MapPropertySource("second", Map.of("server.port", 0, IS_FIRST, false)));
		readChanged(instance);
	}

	@DeleteMapping("/second")
	synchronized Map<String, Integer> stop() {
		if (this.second != null) {
			this.second.close();
			this.second = null;
		}
		return second();
	}

	@Override
	public void destroy() {
		stop();
	}

}
