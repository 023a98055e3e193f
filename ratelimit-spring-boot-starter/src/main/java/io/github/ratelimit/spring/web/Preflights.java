package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.util.ClassUtils;
import org.springframework.web.filter.CorsFilter;

/**
 * Decides which CORS preflight requests are not limited: those that CORS code answers.
 * Other requests may look like one, to guess passwords or to reach a servlet without
 * CORS.
 * <p>
 * Safe for use by several threads.
 */
final class Preflights {

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.web.FilterChainProxy",
			Preflights.class.getClassLoader());

	/** The filter of Spring Framework that only answers preflights; not in 7.0.1. */
	private static final String PRE_FLIGHT_FILTER = "org.springframework.web.filter.PreFlightRequestFilter";

	private final ApplicationCors cors;

	private final SecurityFilters security;

	/** Names of the other filters of the container; {@code null} before the first use. */
	private volatile @Nullable Set<String> filters;

	Preflights(ApplicationCors cors, SecurityFilters security) {
		this.cors = cors;
		this.security = security;
	}

	/**
	 * Returns whether CORS code is certain to answer a preflight request before code of
	 * the application sees it. The container does not tell the order of its filters, so
	 * any of them may be first.
	 */
	boolean areFree(HttpServletRequest request) {
		Set<String> filters = filters(request.getServletContext());
		List<Filter> secured = this.security.find(request);
		return secured.isEmpty() ? filters.isEmpty() && this.cors.isSureToAnswer(request)
				: Set.of(RateLimitWebAutoConfiguration.SECURITY_FILTER).containsAll(filters)
						&& isAnsweredFirst(secured);
	}

	private Set<String> filters(ServletContext context) {
		Set<String> filters = this.filters;
		if (filters == null) {
			filters = context.getFilterRegistrations()
				.values()
				.stream()
				.filter(CredentialFilters::mayInclude)
				.map(FilterRegistration::getName)
				.collect(Collectors.toUnmodifiableSet());
			this.filters = filters;
		}
		return filters;
	}

	/**
	 * Other filters before the CORS filter may check credentials: those of the
	 * application, and those of Spring Security that the application adds there.
	 */
	private static boolean isAnsweredFirst(List<Filter> secured) {
		for (Filter filter : secured) {
			if (filter instanceof CorsFilter || isPreFlightFilter(filter)) {
				return true;
			}
			if (!SECURITY || !SpringSecurityFilters.checksNoCredentials(filter)) {
				return false;
			}
		}
		return false;
	}

	private static boolean isPreFlightFilter(Filter filter) {
		return Stream.<Class<?>>iterate(filter.getClass(), Objects::nonNull, Class::getSuperclass)
			.anyMatch((type) -> type.getName().equals(PRE_FLIGHT_FILTER));
	}

	/**
	 * Returns whether CORS code has allowed a preflight request, and nothing rejected it.
	 */
	boolean isAnswered(HttpServletRequest request, HttpServletResponse response) {
		return response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)
				&& response.getStatus() < HttpServletResponse.SC_MULTIPLE_CHOICES && this.cors.mayAnswer(request);
	}

}
