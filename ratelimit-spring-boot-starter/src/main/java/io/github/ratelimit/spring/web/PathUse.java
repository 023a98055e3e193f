package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.http.HttpServletRequest;

/**
 * What a request uses of the policy of a path, as the policy is while the request is
 * served.
 *
 * @param configured the use of the policy as it is configured
 * @param use the use of the policy as it was before the login
 * @param patterns the patterns that the path of the request matches
 * @param counted whether it was counted by some identifier before the login, to stay so
 */
record PathUse(PolicyUse configured, PolicyUse use, List<String> patterns, boolean counted) {

	/**
	 * Finds what a request uses of a policy. It costs the most if the forms of its path
	 * differ in that.
	 * @param current says of a use, and the patterns of the path, how it is to be
	 * enforced now
	 */
	static Optional<PathUse> find(PathPolicy policy, RequestPaths paths, HttpServletRequest request,
			BiFunction<PolicyUse, List<String>, PolicyUse> current) {
		Set<Route> routes = policy.routes(request, paths);
		if (routes.isEmpty()) {
			return Optional.empty();
		}
		long cost = routes.stream().mapToLong(Route::cost).max().orElseThrow();
		List<String> patterns = routes.stream().map((route) -> route.pattern().getPatternString()).toList();
		PolicyUse configured = new PolicyUse(policy.policy(), cost);
		return Optional.of(new PathUse(configured, current.apply(configured, patterns), patterns, false));
	}

	/** Whether the policy has plans, which those who have not logged in cannot have. */
	boolean needsPlan() {
		return !this.use.policy().plans().isEmpty();
	}

	/** Returns the same use, counted by some identifier or not. */
	PathUse withCounted(boolean counted) {
		return new PathUse(this.configured, this.use, this.patterns, counted);
	}

}
