package io.github.ratelimit.spring.web.path;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Reads the limited paths from properties. Reports errors with the name and the value of
 * the property.
 */
public final class LimitedPathsReader {

	private static final String EXCLUDE = "ratelimit.exclude";

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final PathPatternParser parser;

	public LimitedPathsReader(RateLimitProperties properties, ConfiguredPolicies policies, PathPatternParser parser) {
		this.properties = properties;
		this.policies = policies;
		this.parser = parser;
	}

	public LimitedPaths read() {
		List<Route> excluded = readRoutes(EXCLUDE, this.properties.exclude(), 0);
		List<LimitedPaths.Entry> entries = new ArrayList<>();
		this.properties.policies().forEach((name, properties) -> {
			List<Route> limited = readRoutes(PolicyReader.property(name, ""), properties);
			List<Route> all = new ArrayList<>(excluded);
			all.addAll(readRoutes(PolicyReader.property(name, ".exclude"), properties.exclude(), 0));
			if (!limited.isEmpty()) {
				requireLimited(name, limited, all);
				entries.add(new LimitedPaths.Entry(this.policies.find(name).orElseThrow(), limited, all));
			}
		});
		return new LimitedPaths(entries);
	}

	/** Rejects a policy of which all paths are excluded. */
	private static void requireLimited(String name, List<Route> limited, List<Route> excluded) {
		if (limited.stream().allMatch((route) -> excluded.stream().anyMatch((other) -> other.covers(route)))) {
			throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".paths"),
					limited.stream().map(Route::text).toList(),
					"All of these are excluded, by %s, so that the policy limits none of them."
						.formatted(excluded.stream().map(Route::text).toList()));
		}
	}

	private List<Route> readRoutes(String prefix, PolicySettings properties) {
		List<Route> routes = new ArrayList<>();
		for (int i = 0; i < properties.routes().size(); i++) {
			RouteSettings route = properties.routes().get(i);
			String property = prefix + ".routes[" + i + "]";
			if (route.paths().isEmpty()) {
				throw new InvalidConfigurationPropertyValueException(property + ".paths", null,
						"A route must have at least one path. A source that sets a part of a list replaces the whole list.");
			}
			routes.addAll(readRoutes(property + ".paths", route.paths(), route.cost()));
		}
		routes.addAll(readRoutes(prefix + ".paths", properties.paths(), properties.costOfPaths()));
		return routes;
	}

	private List<Route> readRoutes(String property, List<String> paths, long cost) {
		return PolicyReader.readEach(property, paths, (path) -> Route.parse(path, cost, this.parser));
	}

}
