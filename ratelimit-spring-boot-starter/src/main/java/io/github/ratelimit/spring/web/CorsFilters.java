package io.github.ratelimit.spring.web;

import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Filters of the application that apply its CORS configuration.
 */
@FunctionalInterface
public interface CorsFilters {

	/** Returns those that a request passes. */
	List<Filter> find(HttpServletRequest request);

}
