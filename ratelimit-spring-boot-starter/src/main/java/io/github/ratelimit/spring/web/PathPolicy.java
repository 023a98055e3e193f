package io.github.ratelimit.spring.web;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.IdentifiedPolicy;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.server.PathContainer;

/**
 * A policy for all requests on some paths.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy
 * @param routes the paths with their costs; the first that matches counts
 * @param excluded paths among them that are not limited; may be empty
 * @since 0.1
 */
public record PathPolicy(IdentifiedPolicy policy, List<Route> routes, List<Route> excluded) {

	/**
	 * Creates a policy for paths.
	 */
	public PathPolicy {
		routes = List.copyOf(routes);
		excluded = List.copyOf(excluded);
	}

	/**
	 * Returns the routes that a request takes: one for each form of its path that
	 * matches, and none if all forms are excluded.
	 */
	Set<Route> routes(HttpServletRequest request, RequestPaths paths) {
		if (!this.excluded.isEmpty() && paths.allMatch((path) -> isExcluded(request, path))) {
			return Set.of();
		}
		return paths.all()
			.stream()
			.flatMap((path) -> route(request, path).stream())
			.collect(Collectors.toCollection(LinkedHashSet::new));
	}

	private boolean isExcluded(HttpServletRequest request, PathContainer path) {
		return this.excluded.stream().anyMatch((route) -> route.matches(request, path));
	}

	private Optional<Route> route(HttpServletRequest request, PathContainer path) {
		return this.routes.stream().filter((route) -> route.matches(request, path)).findFirst();
	}

}
