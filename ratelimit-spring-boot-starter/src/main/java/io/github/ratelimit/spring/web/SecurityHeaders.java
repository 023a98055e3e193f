package io.github.ratelimit.spring.web;

import java.io.IOException;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * What the application writes into every response for security, for answers that are
 * given before it comes to that.
 */
@FunctionalInterface
public interface SecurityHeaders {

	/** Of an application that writes none. */
	SecurityHeaders NONE = (request, response) -> {
	};

	/**
	 * Writes the headers, as far as they are not there.
	 * @param request the request
	 * @param response the response, which is not committed
	 * @throws ServletException if the application fails to write them
	 * @throws IOException if the client cannot be reached
	 */
	void write(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException;

}
