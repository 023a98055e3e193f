package io.github.ratelimit.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Collections;
import java.util.Locale;
import java.util.Set;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Globals;

import org.springframework.boot.web.servlet.FilterRegistration;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Lets nobody stop Redis, change limits or block clients but this machine, and no page
 * but that of this application. Who comes through a proxy is not from here, even if the
 * proxy is, and whatever its headers say. A proxy that adds none is known only if Tomcat
 * expects one. An application with a login has roles instead.
 */
@Component
@FilterRegistration(urlPatterns = { "/redis/*", "/shared/*", "/actuator/*" })
class OnlyFromHere extends OncePerRequestFilter {

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

	/** A page elsewhere could give this machine any other name. */
	private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

	private static final Set<String> OF_PROXIES = Set.of("forwarded", "via", "x-real-ip");

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return READING.contains(request.getMethod());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		if (isFromHere(received(request)) && !CorsUtils.isCorsRequest(request)) {
			chain.doFilter(request, response);
			return;
		}
		response.setStatus(HttpServletResponse.SC_FORBIDDEN);
		response.setContentType(MediaType.TEXT_PLAIN_VALUE);
		response.getWriter().println("Only this page, or a program on the machine of the application, may do this");
	}

	/** Returns the request that filters have wrapped, to hide forwarded headers. */
	private static HttpServletRequest received(HttpServletRequest request) {
		HttpServletRequest received = request;
		while (received instanceof HttpServletRequestWrapper wrapper) {
			received = (HttpServletRequest) wrapper.getRequest();
		}
		return received;
	}

	/** The address is that of the connection, because nothing was forwarded. */
	private static boolean isFromHere(HttpServletRequest request) throws IOException {
		return !isForwarded(request) && InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress()
				&& NAMES.contains(request.getServerName());
	}

	/**
	 * With {@code server.forward-headers-strategy=native} Tomcat removes the headers that
	 * it reads, and marks all requests of this machine, which may be those of a proxy.
	 */
	private static boolean isForwarded(HttpServletRequest request) {
		return request.getAttribute(Globals.REQUEST_FORWARDED_ATTRIBUTE) != null
				|| Collections.list(request.getHeaderNames())
					.stream()
					.map((name) -> name.toLowerCase(Locale.ROOT))
					.anyMatch((name) -> name.startsWith("x-forwarded-") || OF_PROXIES.contains(name));
	}

}
