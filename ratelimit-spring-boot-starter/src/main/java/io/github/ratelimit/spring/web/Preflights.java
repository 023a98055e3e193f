package io.github.ratelimit.spring.web;

import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.filter.PreFlightRequestFilter;

/**
 * Decides which CORS preflight requests are not limited: those that CORS code answers.
 * Other requests may look like one, to guess passwords or to reach a servlet without
 * CORS.
 * <p>
 * Safe for use by several threads.
 */
final class Preflights {

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final CorsFilters filters;

	private final SecurityFilters security;

	Preflights(CorsFilters filters, SecurityFilters security) {
		this.filters = filters;
		this.security = security;
	}

	/**
	 * Returns whether CORS code is certain to answer a preflight request before other
	 * code. Without Spring Security this is a filter, or Spring MVC, unless the request
	 * has credentials: browsers send none, so that they may be meant for a filter of the
	 * application.
	 */
	boolean areFree(HttpServletRequest request) {
		List<Filter> secured = this.security.find(request);
		return secured.isEmpty() ? request.getHeader(HttpHeaders.AUTHORIZATION) == null
				&& request.getHeader(HttpHeaders.COOKIE) == null && mayBeAnswered(request) : isAnsweredFirst(secured);
	}

	/**
	 * Filters of the application before the CORS filter may check credentials, and so do
	 * those of Spring Security that the application adds there.
	 */
	private static boolean isAnsweredFirst(List<Filter> secured) {
		for (Filter filter : secured) {
			if (filter instanceof CorsFilter || filter instanceof PreFlightRequestFilter) {
				return true;
			}
			String name = filter.getClass().getName();
			if (!name.startsWith("org.springframework.security.") || name.contains(".authentication.")) {
				return false;
			}
		}
		return false;
	}

	/** Returns whether CORS code has allowed a preflight request. */
	boolean isAnswered(HttpServletRequest request, HttpServletResponse response) {
		return response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN) && mayBeAnswered(request);
	}

	private boolean mayBeAnswered(HttpServletRequest request) {
		return this.dispatchers.serve(request) || !this.filters.find(request).isEmpty();
	}

}
