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
 * Rejects policies of paths that would never count a request: they count by users only,
 * but there is neither Spring Security nor another filter that may authenticate users.
 */
final class UserCheck implements SmartInitializingSingleton {

	private static final Set<String> OWN = Set.of(RateLimitFilter.class.getName(),
			RateLimitExceededFilter.class.getName());

	/** Filters in these packages authenticate no users, except delegating ones. */
	private static final List<String> WITHOUT_AUTHENTICATION = List.of("org.springframework.boot.",
			"org.springframework.web.filter.", "org.apache.tomcat.", "org.eclipse.jetty.");

	private static final List<String> DELEGATING = List.of("DelegatingFilterProxy", "CompositeFilter");

	private final LimitedPaths paths;

	private final WebApplicationContext context;

	UserCheck(LimitedPaths paths, WebApplicationContext context) {
		this.paths = paths;
		this.context = context;
	}

	@Override
	public void afterSingletonsInstantiated() {
		ServletContext servlets = this.context.getServletContext();
		if (servlets == null || !servlets.getFilterRegistrations()
			.values()
			.stream()
			.map(FilterRegistration::getClassName)
			.allMatch(UserCheck::authenticatesNobody)) {
			return;
		}
		this.paths.policies().stream().filter(UserCheck::countsUsersOnly).forEach((policy) -> {
			throw new InvalidConfigurationPropertyValueException(
					PolicyReader.property(policy.policy().name(), ".missing-identifier"), "skip",
					"Nothing would be counted: the policy is by %s, but there is neither Spring Security nor a filter of the application, so that no request has a user. Set it to ip or global, or name other identifiers."
						.formatted(policy.identifiers()));
		});
	}

	private static boolean authenticatesNobody(String filter) {
		return OWN.contains(filter) || (WITHOUT_AUTHENTICATION.stream().anyMatch(filter::startsWith)
				&& DELEGATING.stream().noneMatch(filter::contains));
	}

	private static boolean countsUsersOnly(IdentifiedPolicy policy) {
		return policy.enforcement().missing() == MissingIdentifier.SKIP && policy.identifiers()
			.stream()
			.allMatch((identifier) -> IdentifierParts.of(identifier).contains("user"));
	}

}
