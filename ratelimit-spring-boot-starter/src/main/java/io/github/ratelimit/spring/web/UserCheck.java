package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.ResponseCondition;
import io.github.ratelimit.spring.web.identify.RequestIdentifiers;
import io.github.ratelimit.spring.web.path.LimitedPaths;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds policies of paths that would not count what they are meant to count, because
 * there is no user.
 */
record UserCheck(RequestIdentifiers identifiers, LimitedPaths paths) {

	private static final Logger logger = LoggerFactory.getLogger(UserCheck.class);

	private static final ResponseCondition UNAUTHORIZED = ResponseCondition.parse("status in [401]");

	/**
	 * Warns of policies of paths that count only failed logins, but by users only, or
	 * with plans: what refuses a login answers before there is a user. A handler may
	 * answer 401 too.
	 */
	void warnOfUncountedLogins() {
		for (IdentifiedPolicy policy : this.paths.policies()) {
			boolean plans = !policy.plans().isEmpty();
			if (UNAUTHORIZED.equals(policy.enforcement().countWhen())
					&& (plans || policy.identifiers().stream().allMatch(this.identifiers::needsUser))) {
				String name = policy.policy().name();
				logger.warn(
						"The policy '{}' does not count what Spring Security or another filter answers with 401, because there is no user yet. {}",
						name, plans ? "Count that by a second policy, which has no plans"
								: "Add ip to " + PolicyReader.property(name, ".identifiers"));
			}
		}
	}

}
