package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Set;

import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;

import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.filter.CompositeFilter;
import org.springframework.web.filter.DelegatingFilterProxy;

/**
 * Tells which filters of the container may check credentials, and log users in: those of
 * the application and of libraries for security, and those that call other filters.
 */
final class LoginFilters {

	/** Filters in these packages check no credentials. */
	private static final List<String> HARMLESS = List.of("org.springframework.web.",
			"org.springframework.boot.servlet.", "org.springframework.boot.web.servlet.support.",
			"org.apache.catalina.", "org.apache.tomcat.", "org.eclipse.jetty.");

	private static final Set<String> CALLING_OTHERS = Set.of(DelegatingFilterProxy.class.getName(),
			CompositeFilter.class.getName());

	private static final Set<String> OWN = Set.of(RateLimitFilter.class.getName(),
			RateLimitExceededFilter.class.getName());

	private LoginFilters() {
	}

	/**
	 * Returns whether there is a filter that may log users in. It is known when the
	 * container has started, and true if the filters are unknown: the context of a test
	 * without a container has none, not even our own.
	 */
	static boolean exist(WebApplicationContext context) {
		ServletContext container = context.getServletContext();
		List<String> types = (container == null) ? List.of()
				: container.getFilterRegistrations()
					.values()
					.stream()
					.map(FilterRegistration::getClassName)
					.map(String::valueOf)
					.toList();
		return types.stream().noneMatch(OWN::contains) || types.stream().anyMatch(LoginFilters::mayCheckCredentials);
	}

	private static boolean mayCheckCredentials(String type) {
		return !OWN.contains(type) && (CALLING_OTHERS.contains(type) || HARMLESS.stream().noneMatch(type::startsWith));
	}

}
