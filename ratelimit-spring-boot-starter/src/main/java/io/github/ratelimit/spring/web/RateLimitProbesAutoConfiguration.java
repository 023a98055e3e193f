package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.web.identify.AccessLists;
import io.github.ratelimit.spring.web.identify.RequestConditions;
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
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;

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
	SmartInitializingSingleton rateLimitLimitedProbes(LimitedPaths paths, AccessLists lists,
			RequestConditions conditions, PathMappedEndpoints endpoints, Environment environment) {
		return () -> {
			// Patterns of routes may begin with it.
			String servletPath = StringUtils
				.trimTrailingCharacter(environment.getProperty("spring.mvc.servlet.path", ""), '/');
			List<String> limited = new ArrayList<>();
			Set<String> names = new TreeSet<>();
			for (String probe : probes(endpoints, environment)) {
				List<String> found = paths
					.policies(Stream.of(probe, servletPath + probe).distinct().map(PathContainer::parsePath).toList())
					.stream()
					.filter((policy) -> !maySpareProbes(policy, lists, conditions))
					.map((policy) -> policy.policy().name())
					.toList();
				if (names.addAll(found) || !found.isEmpty()) {
					limited.add(probe);
				}
			}
			if (!limited.isEmpty()) {
				logger.warn("The policies {} limit {}, so that probes of the application's health may be denied, and"
						+ " the application ended for it. Name these paths in ratelimit.exclude, or give the actuator"
						+ " another port, management.server.port", names, limited);
			}
		};
	}

	/** What spares probes is known only of requests: it is meant to if it may. */
	private static boolean maySpareProbes(IdentifiedPolicy policy, AccessLists lists, RequestConditions conditions) {
		return lists.mayExemptAnybody() || conditions.has(policy)
				|| (policy.enforcement().missing() == MissingIdentifier.SKIP
						&& policy.identifiers().stream().noneMatch(IdentifierNames::isNeverMissing));
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
