package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.http.HttpServletRequest;

/**
 * What a request uses of the policy of a path, as the policy is while the request is
 * served.
 *
 * @param use the use of the policy
 * @param patterns the patterns that the path of the request matches
 * @param counted whether it was counted by some identifier before the login
 */
record PathUse(PolicyUse use, List<String> patterns, boolean counted) {

	/** Whether the policy has plans, which those who have not logged in cannot have. */
	boolean needsPlan() {
		return !this.use.policy().plans().isEmpty();
	}

	/** Leaves a use to the filter that comes after the login. */
	void leave(boolean counted, HttpServletRequest request) {
		PerRequest.get(request, Left.class, () -> new Left(new ArrayList<>()))
			.uses()
			.add(new PathUse(this.use, this.patterns, counted));
	}

	/** Returns the uses that were left. */
	static List<PathUse> left(HttpServletRequest request) {
		Left left = PerRequest.find(request, Left.class);
		return (left != null) ? left.uses() : List.of();
	}

	private record Left(List<PathUse> uses) {

	}

}
