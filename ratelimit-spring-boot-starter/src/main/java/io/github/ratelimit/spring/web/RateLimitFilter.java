package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.server.PathContainer;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Enforces the policies of paths, once for each request, before its handler runs. CORS
 * preflight requests are free.
 *
 * @since 0.1
 */
public final class RateLimitFilter extends OncePerRequestFilter {

	private final ServletPolicyEnforcer enforcer;

	private final List<PathPolicy> policies;

	/**
	 * Creates a filter.
	 * @param enforcer what enforces the policies
	 * @param policies the policies; all that match a request are decided at once
	 */
	public RateLimitFilter(ServletPolicyEnforcer enforcer, List<PathPolicy> policies) {
		this.enforcer = enforcer;
		this.policies = List.copyOf(policies);
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return CorsUtils.isPreFlightRequest(request);
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		PathContainer path = ServletRequestPathUtils.parse(request).pathWithinApplication();
		if (this.enforcer.enforce(this.policies, path, request, response)) {
			chain.doFilter(request, response);
		}
	}

}
