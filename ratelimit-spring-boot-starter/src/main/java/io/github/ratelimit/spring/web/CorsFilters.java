package io.github.ratelimit.spring.web;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.filter.CorsFilter;

/**
 * The filters that apply the CORS configuration of the application: those in the chain of
 * Spring Security, and those that are registered with the container.
 */
final class CorsFilters {

	private final SecurityFilters security;

	/** By their names in the container; found at the first use, when all beans exist. */
	private final SingletonSupplier<Map<String, Filter>> registered;

	CorsFilters(SecurityFilters security, ListableBeanFactory beans) {
		this.security = security;
		this.registered = SingletonSupplier.of(() -> registered(beans));
	}

	private static Map<String, Filter> registered(ListableBeanFactory beans) {
		Map<String, Filter> filters = new LinkedHashMap<>(beans.getBeansOfType(CorsFilter.class));
		for (FilterRegistrationBean<?> registration : beans.getBeansOfType(FilterRegistrationBean.class).values()) {
			if (registration.getFilter() instanceof CorsFilter filter) {
				filters.put(registration.getFilterName(), filter);
			}
		}
		return filters;
	}

	/** Returns the CORS filters that a request passes. */
	List<Filter> find(HttpServletRequest request) {
		return Stream
			.concat(this.security.find(request).stream().filter(CorsFilter.class::isInstance),
					this.registered.obtain()
						.entrySet()
						.stream()
						.filter((filter) -> isPassed(filter.getKey(), request))
						.map(Map.Entry::getValue)
						.distinct())
			.toList();
	}

	private static boolean isPassed(String name, HttpServletRequest request) {
		FilterRegistration registration = request.getServletContext().getFilterRegistration(name);
		if (registration == null) {
			return false;
		}
		String pathInfo = request.getPathInfo();
		String path = (pathInfo != null) ? request.getServletPath() + pathInfo : request.getServletPath();
		return registration.getUrlPatternMappings().stream().anyMatch((pattern) -> matches(pattern, path))
				|| registration.getServletNameMappings().contains(request.getHttpServletMapping().getServletName());
	}

	/** Matches as defined by the Servlet specification (section 12.2). */
	private static boolean matches(String pattern, String path) {
		if (pattern.endsWith("/*")) {
			String prefix = pattern.substring(0, pattern.length() - 2);
			return path.equals(prefix) || path.startsWith(prefix + "/");
		}
		return pattern.equals(path) || (pattern.startsWith("*.") && path.endsWith(pattern.substring(1)));
	}

}
