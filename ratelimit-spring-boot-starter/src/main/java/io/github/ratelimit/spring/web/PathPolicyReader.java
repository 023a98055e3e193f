package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import io.github.ratelimit.spring.policy.RateLimitProperties.RouteProperties;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Makes the policies of paths of properties. Whatever is wrong with them is reported with
 * the name of the property and its value.
 */
final class PathPolicyReader {

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final PathPatternParser parser;

	private final PolicyReader reader;

	PathPolicyReader(RateLimitProperties properties, ConfiguredPolicies policies, PathPatternParser parser,
			Environment environment) {
		this.properties = properties;
		this.policies = policies;
		this.parser = parser;
		this.reader = new PolicyReader(properties, environment);
	}

	/** Returns the policies that have paths. */
	List<PathPolicy> read() {
		List<PathPolicy> pathPolicies = new ArrayList<>();
		this.properties.policies().forEach((name, properties) -> {
			IdentifiedPolicy policy = this.policies.find(name).orElseThrow();
			List<Route> routes = readRoutes(PolicyReader.property(name, ""), policy, properties);
			if (!routes.isEmpty()) {
				pathPolicies.add(new PathPolicy(policy, routes));
			}
		});
		return pathPolicies;
	}

	private List<Route> readRoutes(String prefix, IdentifiedPolicy policy, PolicyProperties properties) {
		List<Route> routes = new ArrayList<>();
		for (int i = 0; i < properties.routes().size(); i++) {
			RouteProperties route = properties.routes().get(i);
			String property = prefix + ".routes[" + i + "]";
			if (route.paths().isEmpty()) {
				throw new InvalidConfigurationPropertyValueException(property + ".paths", null,
						"A route must have at least one path.");
			}
			routes.addAll(readRoutes(property, policy, route.paths(), route.cost()));
		}
		routes.addAll(readRoutes(prefix, policy, properties.paths(), properties.cost()));
		return routes;
	}

	private List<Route> readRoutes(String prefix, IdentifiedPolicy policy, List<String> paths, long cost) {
		PolicyReader.read(prefix + ".cost", cost, () -> {
			policy.requirePossible(cost);
			return cost;
		});
		return this.reader.readEach(prefix + ".paths", paths, (path) -> Route.parse(path, cost, this.parser));
	}

}
