package io.github.ratelimit.spring;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * The filters of Spring Security, or of another library for security. A bean of this type
 * replaces those of Spring Security. Without Spring Security and such a bean, there are
 * none.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface SecurityFilters {

	/** No filters. */
	SecurityFilters NONE = new SecurityFilters() {
	};

	/**
	 * Returns the filters that a request passes; by default, none. Those that apply CORS
	 * are asked what a page of another origin may read.
	 * @return the filters in their order
	 */
	default List<Filter> find(HttpServletRequest request) {
		return List.of();
	}

	/**
	 * Writes the security headers into a response that does not pass these filters.
	 * Headers that exist are kept. By default, there are none.
	 * @param response the response, which is not committed
	 * @throws ServletException if a filter fails
	 * @throws IOException if a filter cannot write to the client
	 */
	default void writeHeaders(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
	}

}
