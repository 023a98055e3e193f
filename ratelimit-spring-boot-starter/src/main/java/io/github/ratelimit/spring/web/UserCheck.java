package io.github.ratelimit.spring.web;

import java.util.stream.Stream;

import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.ResponseCondition;
import io.github.ratelimit.spring.web.identify.RequestIdentifiers;
import io.github.ratelimit.spring.web.path.LimitedPaths;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.web.method.HandlerMethod;

/**
 * Finds policies of paths and of handler methods that would not count what they are meant
 * to count, because there is no user. Other methods may be called outside of a request.
 */
record UserCheck(RequestIdentifiers identifiers, ConfiguredPolicies policies, LimitedPaths paths,
		AnnotatedPolicies annotated) {

	private static final Logger logger = LoggerFactory.getLogger(UserCheck.class);

	private static final ResponseCondition UNAUTHORIZED = ResponseCondition.parse("status in [401]");

	/**
	 * Rejects policies that would never count a request: they count by users only, but
	 * nobody can log in.
	 */
	void requireCounted(Stream<HandlerMethod> handlers) {
		this.paths.policies().forEach((policy) -> requireCounted(policy, "the policy"));
		handlers.forEach((handler) -> this.annotated.find(handler.getMethod(), handler.getBeanType())
			.forEach((policy) -> requireCounted(policy, "@RateLimited on %s.%s"
				.formatted(handler.getBeanType().getSimpleName(), handler.getMethod().getName()))));
	}

	private void requireCounted(IdentifiedPolicy policy, String subject) {
		if (policy.enforcement().missing() == MissingIdentifier.SKIP
				&& policy.identifiers().stream().allMatch(this.identifiers::isMissingWithoutUser)) {
			String name = policy.policy().name();
			throw new InvalidConfigurationPropertyValueException(
					this.policies.find(name).isPresent() ? PolicyReader.property(name, ".missing-identifier")
							: "ratelimit.defaults.missing-identifier",
					"skip",
					"Nothing would be counted: %s is by %s, but there is neither Spring Security nor a filter of the application, so that no request has a user. Set it to ip or global, or name other identifiers."
						.formatted(subject, policy.identifiers()));
		}
	}

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
