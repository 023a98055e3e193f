package io.github.ratelimit.spring.web;

import java.io.IOException;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NamedThreadLocal;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The request that the present thread serves: the one that Spring knows, and in filters
 * that come before Spring's own, the one that the first filter of the limiter has met.
 */
final class CurrentRequest {

	private static final ThreadLocal<@Nullable ServletRequestAttributes> first = new NamedThreadLocal<>(
			"Request of the rate limiter");

	private CurrentRequest() {
	}

	static @Nullable ServletRequestAttributes find() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes known) ? known
				: first.get();
	}

	/** Lets a chain know its request. */
	static void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		ServletRequestAttributes outer = first.get();
		first.set(new ServletRequestAttributes(request, response));
		try {
			chain.doFilter(request, response);
		}
		finally {
			if (outer != null) {
				first.set(outer);
			}
			else {
				first.remove();
			}
		}
	}

}
