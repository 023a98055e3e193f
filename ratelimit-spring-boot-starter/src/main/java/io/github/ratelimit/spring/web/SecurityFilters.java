package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * The filters of Spring Security, which may be missing.
 */
interface SecurityFilters {

	/**
	 * Returns the filters that a request passes, in their order.
	 * @return the filters; empty if Spring Security does not filter the request
	 */
	List<Filter> find(HttpServletRequest request);

	/**
	 * Writes the security headers into a response that does not pass these filters.
	 * Headers that exist are kept.
	 */
	void writeHeaders(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException;

	/** Returns the filters of an application without Spring Security. */
	static SecurityFilters none() {
		return new SecurityFilters() {

			@Override
			public List<Filter> find(HttpServletRequest request) {
				return List.of();
			}

			@Override
			public void writeHeaders(HttpServletRequest request, HttpServletResponse response) {
			}

		};
	}

}
