package io.github.ratelimit.spring.web;

import java.util.Optional;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;

/**
 * Which CORS preflight requests are free: those that CORS code answers, whatever they
 * carry. Anybody may send what looks like one, to try passwords or to reach a servlet
 * that knows nothing of CORS.
 * <p>
 * Safe for use by several threads.
 */
final class Preflights {

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final CorsFilters filters;

	private final SecurityPreflights security;

	/**
	 * Creates an instance.
	 * @param filters the CORS filters that a request passes
	 * @param security what Spring Security makes of preflight requests
	 */
	Preflights(CorsFilters filters, SecurityPreflights security) {
		this.filters = filters;
		this.security = security;
	}

	/**
	 * Returns whether CORS code is sure to answer a preflight request before anything
	 * else looks at it. Without Spring Security that is a filter, or Spring MVC; but
	 * credentials, which no browser sends with it, may be meant for a filter of the
	 * application's own.
	 */
	boolean areFree(HttpServletRequest request) {
		Optional<Boolean> answered = this.security.areAnsweredFirst(request);
		return answered.orElseGet(() -> request.getHeader(HttpHeaders.AUTHORIZATION) == null
				&& request.getHeader(HttpHeaders.COOKIE) == null && mayBeAnswered(request));
	}

	/** Returns whether CORS code has allowed what a preflight request asks for. */
	boolean isAnswered(HttpServletRequest request, HttpServletResponse response) {
		return response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN) && mayBeAnswered(request);
	}

	private boolean mayBeAnswered(HttpServletRequest request) {
		return this.dispatchers.serve(request) || !this.filters.find(request).isEmpty();
	}

}
