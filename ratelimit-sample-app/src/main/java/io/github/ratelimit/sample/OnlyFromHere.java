package io.github.ratelimit.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Set;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.web.servlet.FilterRegistration;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Lets nobody stop Redis, change limits or block clients but this machine, and no page
 * but that of this application. An application with a login has roles instead.
 */
@Component
@FilterRegistration(urlPatterns = { "/redis/*", "/shared/*", "/actuator/*" })
class OnlyFromHere extends OncePerRequestFilter {

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

	/** A page elsewhere could give this machine any other name. */
	private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return READING.contains(request.getMethod());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		if (InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress()
				&& NAMES.contains(request.getServerName()) && !CorsUtils.isCorsRequest(request)) {
			chain.doFilter(request, response);
			return;
		}
		response.setStatus(HttpServletResponse.SC_FORBIDDEN);
		response.setContentType(MediaType.TEXT_PLAIN_VALUE);
		response.getWriter().println("Only this page, or a program on the machine of the application, may do this");
	}

}
