package io.github.ratelimit.sample;

import java.io.IOException;
import java.security.Principal;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Stands for a login, where Spring Security would be: the user is whoever the header
 * {@code X-User} names. The limiter only sees the principal.
 */
@Component
@Order(-100)
class NamedUsers extends OncePerRequestFilter {

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		String name = request.getHeader("X-User");
		chain.doFilter((name == null) ? request : new HttpServletRequestWrapper(request) {

			@Override
			public Principal getUserPrincipal() {
				return () -> name;
			}

		}, response);
	}

}
