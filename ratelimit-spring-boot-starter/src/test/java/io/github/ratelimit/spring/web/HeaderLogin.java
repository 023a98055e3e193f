package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.security.Principal;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * A filter of the application's own, which believes a header that names a user. It stands
 * between those of the limiter, or where the property {@code test.login} says.
 */
class HeaderLogin extends OncePerRequestFilter implements Ordered {

	private final int order;

	HeaderLogin(@Value("${test.login:-100}") int order) {
		this.order = order;
	}

	@Override
	public int getOrder() {
		return this.order;
	}

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
