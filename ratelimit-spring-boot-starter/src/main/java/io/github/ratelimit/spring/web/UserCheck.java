package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Set;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.policy.IdentifierParts;
import io.github.ratelimit.spring.policy.PolicyReader;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.web.context.WebApplicationContext;

/**
 * Refuses policies of paths that would never count anything: they count by users alone,
 * but nobody can log in, because there is neither Spring Security nor any other filter
 * that might know users.
 */
final class UserCheck implements SmartInitializingSingleton {

	private static final Set<String> OWN = Set.of(RateLimitFilter.class.getName(),
			RateLimitExceededFilter.class.getName());

	/** Filters of these know no users, unless they only stand for another filter. */
	private static final List<String> WITHOUT_USERS = List.of("org.springframework.boot.",
			"org.springframework.web.filter.", "org.apache.tomcat.", "org.eclipse.jetty.");

	private static final List<String> STANDING_FOR_OTHERS = List.of("DelegatingFilterProxy", "CompositeFilter");

	private final List<PathPolicy> policies;

	private final WebApplicationContext context;

	UserCheck(List<PathPolicy> policies, WebApplicationContext context) {
		this.policies = policies;
		this.context = context;
	}

	@Override
	public void afterSingletonsInstantiated() {
		ServletContext servlets = this.context.getServletContext();
		if (servlets == null || !servlets.getFilterRegistrations()
			.values()
			.stream()
			.map(FilterRegistration::getClassName)
			.allMatch(UserCheck::isWithoutUsers)) {
			return;
		}
		this.policies.stream().map(PathPolicy::policy).filter(UserCheck::countsUsersAlone).forEach((policy) -> {
			throw new InvalidConfigurationPropertyValueException(
					PolicyReader.property(policy.policy().name(), ".missing-identifier"), "skip",
					"Nothing would be counted: the policy is by %s, but there is neither Spring Security nor a filter of the application, so that no request has a user. Set it to ip or global, or name other identifiers."
						.formatted(policy.identifiers()));
		});
	}

	private static boolean isWithoutUsers(String filter) {
		return OWN.contains(filter) || (WITHOUT_USERS.stream().anyMatch(filter::startsWith)
				&& STANDING_FOR_OTHERS.stream().noneMatch(filter::contains));
	}

	private static boolean countsUsersAlone(IdentifiedPolicy policy) {
		return policy.enforcement().missing() == MissingIdentifier.SKIP && policy.identifiers()
			.stream()
			.allMatch((identifier) -> IdentifierParts.of(identifier).contains("user"));
	}

}
