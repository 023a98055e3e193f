package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Set;

import jakarta.servlet.FilterRegistration;

import org.springframework.web.filter.CompositeFilter;
import org.springframework.web.filter.DelegatingFilterProxy;

/**
 * Tells which filters of a container may check credentials: those of the application and
 * of libraries for security, and those that call other filters.
 */
final class CredentialFilters {

	/** Filters in these packages check no credentials. */
	private static final List<String> HARMLESS = List.of("org.springframework.web.",
			"org.springframework.boot.servlet.", "org.springframework.boot.web.servlet.support.",
			"org.apache.catalina.", "org.apache.tomcat.", "org.eclipse.jetty.");

	private static final Set<String> CALLING_OTHERS = Set.of(DelegatingFilterProxy.class.getName(),
			CompositeFilter.class.getName());

	private static final Set<String> OWN = Set.of(RateLimitFilter.class.getName(),
			RateLimitExceededFilter.class.getName());

	private CredentialFilters() {
	}

	/** Returns true also if the class of the filter is unknown. */
	static boolean mayInclude(FilterRegistration filter) {
		String type = filter.getClassName();
		return type == null || (!OWN.contains(type)
				&& (CALLING_OTHERS.contains(type) || HARMLESS.stream().noneMatch(type::startsWith)));
	}

	/** Returns whether a filter belongs to the limiter. */
	static boolean isOwn(FilterRegistration filter) {
		String type = filter.getClassName();
		return type != null && OWN.contains(type);
	}

}
