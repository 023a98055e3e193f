package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

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
	 * matches, none twice, and none if all forms are excluded.
	 */
	List<Route> routes(HttpServletRequest request, RequestPaths paths) {
		List<Route> found = List.of();
		for (PathContainer path : paths.all()) {
			Route route = route(this.routes, request, path);
			if (route != null && found.isEmpty()) {
				found = List.of(route);
			}
			else if (route != null && !found.contains(route)) {
				found = Stream.concat(found.stream(), Stream.of(route)).toList();
			}
		}
		// Last, because most policies do not match.
		boolean excluded = !found.isEmpty() && !this.excluded.isEmpty()
				&& paths.allMatch((path) -> route(this.excluded, request, path) != null);
		return excluded ? List.of() : found;
	}

	/**
	 * Returns what a request uses of the policy as it is configured. It costs the most if
	 * the forms of its path differ in that.
	 * @param routes the routes that the request takes, at least one
	 */
	PolicyUse use(List<Route> routes) {
		long cost = 0;
		for (Route route : routes) {
			cost = Math.max(cost, route.cost());
		}
		return new PolicyUse(this.policy, cost);
	}

	private static @Nullable Route route(List<Route> routes, HttpServletRequest request, PathContainer path) {
		for (Route route : routes) {
			if (route.matches(request, path)) {
				return route;
			}
		}
		return null;
	}

}
