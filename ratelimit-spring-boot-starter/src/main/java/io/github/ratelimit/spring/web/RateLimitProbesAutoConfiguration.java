package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.github.ratelimit.spring.web.path.LimitedPaths;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of a warning at startup if policies limit the health endpoint, which
 * probes of the application's platform call: a probe that is denied may end the
 * application.
 *
 * @since 0.1
 */
@AutoConfiguration(after = { RateLimitWebAutoConfiguration.class, WebEndpointAutoConfiguration.class })
@ConditionalOnClass({ PathMappedEndpoints.class, ManagementPortType.class })
@ConditionalOnBean({ LimitedPaths.class, PathMappedEndpoints.class })
public final class RateLimitProbesAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitProbesAutoConfiguration.class);

	private static final EndpointId HEALTH = EndpointId.of("health");

	@Bean
	SmartInitializingSingleton rateLimitLimitedProbes(LimitedPaths paths, PathMappedEndpoints endpoints,
			Environment environment) {
		return () -> {
			Set<String> names = new TreeSet<>();
			List<String> limited = new ArrayList<>();
			for (String probe : probes(endpoints, environment)) {
				List<String> found = paths.denying(probe);
				names.addAll(found);
				limited.addAll(found.isEmpty() ? List.of() : List.of(probe));
			}
			if (!limited.isEmpty()) {
				logger.warn("The policies {} limit {}, so that probes of the application's health may be denied, and"
						+ " the application ended for it, unless a condition or ratelimit.allow spares them. Name these"
						+ " paths in ratelimit.exclude, or give the actuator another port, management.server.port",
						names, limited);
			}
		};
	}

	private static List<String> probes(PathMappedEndpoints endpoints, Environment environment) {
		List<String> probes = new ArrayList<>();
		String health = endpoints.getPath(HEALTH);
		if (health != null && ManagementPortType.get(environment) == ManagementPortType.SAME) {
			probes.addAll(List.of(health, health + "/liveness", health + "/readiness"));
		}
		probes.addAll(endpoints.getAdditionalPaths(WebServerNamespace.SERVER, HEALTH));
		return probes;
	}

}
