package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.util.StringUtils;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Enforces the policies of paths, once for each request, before its handler runs. CORS
 * preflight requests are free. A request whose path cannot be decoded is answered with
 * 400.
 *
 * @since 0.1
 */
public final class RateLimitFilter extends OncePerRequestFilter {

	private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

	private final ServletPolicyEnforcer enforcer;

	private final List<PathPolicy> policies;

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final boolean userKnown;

	/**
	 * Creates a filter.
	 * @param enforcer what enforces the policies
	 * @param policies the policies of paths; none for a filter that comes after users
	 * have logged in, which decides what the one before that has left to it
	 * @param userKnown whether this filter comes after users have logged in
	 */
	public RateLimitFilter(ServletPolicyEnforcer enforcer, List<PathPolicy> policies, boolean userKnown) {
		this.enforcer = enforcer;
		this.policies = List.copyOf(policies);
		this.userKnown = userKnown;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return CorsUtils.isPreFlightRequest(request);
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		RequestPaths paths;
		try {
			paths = this.policies.isEmpty() ? RequestPaths.NONE : paths(request);
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
		}
	}

	/**
	 * Returns the path behind the context path, as the client wrote it, by which handlers
	 * are found, and as the container understood it, by which files and other servlets
	 * are found: {@code //a/./b} is {@code /a/b} for them. A slash at the end may be
	 * taken away by a filter that comes later. If the dispatcher servlet has a path of
	 * its own, handlers are found by what stands behind that.
	 */
	private RequestPaths paths(HttpServletRequest request) {
		String uri = request.getRequestURI();
		String contextPath = request.getContextPath();
		String written = uri.startsWith(contextPath) ? uri.substring(contextPath.length()) : uri;
		String pathInfo = request.getPathInfo();
		String understood = (pathInfo != null) ? request.getServletPath() + pathInfo : request.getServletPath();
		List<PathContainer> paths = new ArrayList<>(1);
		paths.add(PathContainer.parsePath(written));
		if (!written.equals(understood)) {
			paths.add(PathContainer.parsePath(understood, DECODED));
		}
		if (understood.length() > 1 && understood.endsWith("/")) {
			paths.add(PathContainer.parsePath(StringUtils.trimTrailingCharacter(understood, '/'), DECODED));
		}
		List<PathContainer> inServlet = new ArrayList<>(0);
		if (pathInfo != null && !request.getServletPath().isEmpty() && this.dispatchers.serve(request)) {
			addPathsInServlet(request, pathInfo, inServlet);
		}
		return new RequestPaths(paths, inServlet);
	}

	private static void addPathsInServlet(HttpServletRequest request, String pathInfo, List<PathContainer> paths) {
		try {
			RequestPath path = ServletRequestPathUtils.parse(request);
			paths.add(path.pathWithinApplication());
		}
		catch (IllegalArgumentException ex) {
			// Spring MVC cannot find the servlet's path in what the client wrote, and
			// refuses the request.
		}
		paths.add(PathContainer.parsePath(pathInfo, DECODED));
		if (pathInfo.length() > 1 && pathInfo.endsWith("/")) {
			paths.add(PathContainer.parsePath(StringUtils.trimTrailingCharacter(pathInfo, '/'), DECODED));
		}
	}

}
