package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.server.PathContainer;
import org.springframework.web.cors.CorsUtils;

/**
 * Enforces the policies of the paths that a request reaches, by whatever dispatch, before
 * they are served; each policy once in a request. CORS preflight requests are free if
 * CORS code answers them. A request whose path cannot be decoded is answered with 400.
 *
 * @since 0.1
 */
public final class RateLimitFilter implements Filter {

	private final ServletPolicyEnforcer enforcer;

	private final List<PathPolicy> policies;

	private final PathForms paths = new PathForms();

	private final boolean userKnown;

	private final Preflights preflights;

	/**
	 * Creates a filter.
	 * @param enforcer what enforces the policies
	 * @param policies the policies of paths; none for a filter that comes after users
	 * have logged in, which decides what the one before that has left to it
	 * @param userKnown whether this filter comes after users have logged in
	 * @param preflights which CORS preflight requests are free
	 */
	RateLimitFilter(ServletPolicyEnforcer enforcer, List<PathPolicy> policies, boolean userKnown,
			Preflights preflights) {
		this.enforcer = enforcer;
		this.policies = List.copyOf(policies);
		this.userKnown = userKnown;
		this.preflights = preflights;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request instanceof HttpServletRequest httpRequest && response instanceof HttpServletResponse httpResponse
				&& !(CorsUtils.isPreFlightRequest(httpRequest) && this.preflights.areFree(httpRequest))) {
			doFilter(httpRequest, httpResponse, chain);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		RequestPaths paths;
		try {
			paths = this.policies.isEmpty() ? RequestPaths.NONE : this.paths.of(request);
		}
		catch (IllegalArgumentException ex) {
			// An escape that is none, in a parameter of the path, where containers let it
			// through. No policy could be found by it; Spring MVC fails on it, and so
			// does its error page.
			response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
			return;
		}
		if (this.enforcer.enforce(this.policies, paths, this.userKnown, request, response)) {
			chain.doFilter(request, this.enforcer.responseForChain(request, response));
			if (CorsUtils.isPreFlightRequest(request) && this.preflights.isAnswered(request, response)) {
				this.enforcer.giveBack(request);
			}
		}
	}

}
