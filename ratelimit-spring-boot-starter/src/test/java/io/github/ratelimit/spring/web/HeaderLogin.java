package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.security.Principal;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.web.filter.OncePerRequestFilter;

/** A filter of the application's own, which believes a header that names a user. */
final class HeaderLogin extends OncePerRequestFilter {

	private HeaderLogin() {
	}

	/** Returns the filter at a place among others. */
	static FilterRegistrationBean<HeaderLogin> at(int order) {
		FilterRegistrationBean<HeaderLogin> registration = new FilterRegistrationBean<>(new HeaderLogin());
		registration.setOrder(order);
		return registration;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		String name = request.getHeader("X-User");
		chain.doFilter(new HttpServletRequestWrapper(request) {

			@Override
			public @Nullable Principal getUserPrincipal() {
				return (name != null) ? () -> name : null;
			}

		}, response);
	}

}
