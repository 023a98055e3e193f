package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.ResponseCondition;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.web.method.HandlerMethod;

/**
 * Rejects policies of paths and of handler methods that would never count a request: they
 * count by users only, but there is neither Spring Security nor another filter that may
 * authenticate users. Other methods may be called outside of a request. If users may log
 * in, warns of policies that would not count failed logins.
 */
final class UserCheck {

	private static final Logger logger = LoggerFactory.getLogger(UserCheck.class);

	private static final ResponseCondition UNAUTHORIZED = ResponseCondition.parse("status in [401]");

	private final RequestIdentifiers identifiers;

	private final ConfiguredPolicies policies;

	UserCheck(RequestIdentifiers identifiers, ConfiguredPolicies policies) {
		this.identifiers = identifiers;
		this.policies = policies;
	}

	/** Checks the policies of paths. */
	void requireCounted(LimitedPaths paths) {
		paths.policies().forEach((policy) -> requireCounted(policy, "the policy"));
	}

	/** Checks the policies of the annotations on a handler method and its class. */
	void requireCounted(HandlerMethod handler, AnnotatedPolicies annotated) {
		annotated.find(handler.getMethod(), handler.getBeanType())
			.forEach((policy) -> requireCounted(policy, "@RateLimited on %s.%s"
				.formatted(handler.getBeanType().getSimpleName(), handler.getMethod().getName())));
	}

	/**
	 * Warns of policies of paths that count only failed logins, but by users only: what
	 * refuses a login answers before there is a user. A handler may answer 401 too.
	 */
	void warnOfUncountedLogins(LimitedPaths paths) {
		paths.policies()
			.stream()
			.filter((policy) -> UNAUTHORIZED.equals(policy.enforcement().countWhen())
					&& policy.identifiers().stream().allMatch(this.identifiers::needsUser))
			.map((policy) -> policy.policy().name())
			.forEach((name) -> logger.warn(
					"The policy '{}' does not count what Spring Security or another filter answers with 401, because there is no user yet. Add ip to {}",
					name, PolicyReader.property(name, ".identifiers")));
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

}
