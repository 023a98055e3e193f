package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.policy.IdentifierParts;
import io.github.ratelimit.spring.policy.PolicyReader;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Rejects policies of paths that would never count a request: they count by users only,
 * but there is neither Spring Security nor another filter that may authenticate users.
 */
final class UserCheck implements SmartInitializingSingleton {

	private final LimitedPaths paths;

	private final LoginFilters logins;

	UserCheck(LimitedPaths paths, LoginFilters logins) {
		this.paths = paths;
		this.logins = logins;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (this.logins.exist()) {
			return;
		}
		this.paths.policies().stream().filter(UserCheck::countsUsersOnly).forEach((policy) -> {
			throw new InvalidConfigurationPropertyValueException(
					PolicyReader.property(policy.policy().name(), ".missing-identifier"), "skip",
					"Nothing would be counted: the policy is by %s, but there is neither Spring Security nor a filter of the application, so that no request has a user. Set it to ip or global, or name other identifiers."
						.formatted(policy.identifiers()));
		});
	}

	private static boolean countsUsersOnly(IdentifiedPolicy policy) {
		return policy.enforcement().missing() == MissingIdentifier.SKIP && policy.identifiers()
			.stream()
			.allMatch((identifier) -> IdentifierParts.of(identifier).contains("user"));
	}

}
