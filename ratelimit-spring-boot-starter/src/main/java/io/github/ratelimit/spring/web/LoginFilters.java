package io.github.ratelimit.spring.web;

import java.util.Collection;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.spring.web.cors.SpringSecurityFilters;
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
		if (container == null || context.containsBean(SpringSecurityFilters.BEAN)) {
			return true;
		}
		Collection<? extends FilterRegistration> filters = container.getFilterRegistrations().values();
		return filters.stream().noneMatch((filter) -> OWN.contains(String.valueOf(filter.getClassName())))
				|| filters.stream().anyMatch(LoginFilters::mayCheckCredentials);
	}

	/** Returns true also if the class of the filter is unknown. */
	private static boolean mayCheckCredentials(FilterRegistration filter) {
		String type = filter.getClassName();
		return type == null || (!OWN.contains(type)
				&& (CALLING_OTHERS.contains(type) || HARMLESS.stream().noneMatch(type::startsWith)));
	}

}
