package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.OptionalLong;

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
 * @since 0.1
 */
public record PathPolicy(IdentifiedPolicy policy, List<Route> routes) {

	/**
	 * Creates a policy for paths.
	 */
	public PathPolicy {
		routes = List.copyOf(routes);
	}

	/**
	 * Returns whether the policy can be enforced only once the user has logged in.
	 * @return whether one of its identifiers needs the user, or it has plans
	 */
	public boolean needsUser() {
		return !this.policy.plans().isEmpty()
				|| this.policy.identifiers().stream().anyMatch(RequestIdentifiers::needsUser);
	}

	/**
	 * Returns what a request costs, the most if the forms of its path differ in that.
	 */
	OptionalLong cost(HttpServletRequest request, List<PathContainer> paths) {
		return paths.stream().flatMapToLong((path) -> cost(request, path).stream()).max();
	}

	private OptionalLong cost(HttpServletRequest request, PathContainer path) {
		return this.routes.stream().filter((route) -> route.matches(request, path)).mapToLong(Route::cost).findFirst();
	}

}
