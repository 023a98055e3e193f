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
class HeaderLogin extends OncePerRequestFilter {

	/** Returns the filter at a place among others. */
	static FilterRegistrationBean<HeaderLogin> at(int order) {
		return TestApplication.filterAt(order, new HeaderLogin());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		chain.doFilter(withUser(request, request.getHeader("X-User")), response);
	}

	static HttpServletRequest withUser(HttpServletRequest request, @Nullable String name) {
		return (name == null) ? request : new HttpServletRequestWrapper(request) {

			@Override
			public Principal getUserPrincipal() {
				return () -> name;
			}

		};
	}

}
