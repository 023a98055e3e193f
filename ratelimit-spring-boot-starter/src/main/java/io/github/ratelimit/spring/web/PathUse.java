package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.spring.policy.PolicyUse;

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

	/** Whether the policy has plans, which those who have not logged in cannot have. */
	boolean needsPlan() {
		return !this.use.policy().plans().isEmpty();
	}

	/** Returns the same use, counted by some identifier or not. */
	PathUse withCounted(boolean counted) {
		return new PathUse(this.configured, this.use, this.patterns, counted);
	}

}
