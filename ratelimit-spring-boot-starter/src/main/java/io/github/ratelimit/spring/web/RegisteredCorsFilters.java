package io.github.ratelimit.spring.web;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.filter.CorsFilter;

/**
 * The CORS filters that are registered with the container for the path of a request.
 */
final class RegisteredCorsFilters implements CorsFilters {

	/** By their names in the container; found at the first use, when all beans exist. */
	private final SingletonSupplier<Map<String, Filter>> filters;

	RegisteredCorsFilters(ListableBeanFactory beans) {
		this.filters = SingletonSupplier.of(() -> filters(beans));
	}

	private static Map<String, Filter> filters(ListableBeanFactory beans) {
		Map<String, Filter> filters = new LinkedHashMap<>(beans.getBeansOfType(CorsFilter.class));
		for (FilterRegistrationBean<?> registration : beans.getBeansOfType(FilterRegistrationBean.class).values()) {
			if (registration.getFilter() instanceof CorsFilter filter) {
				filters.put(registration.getFilterName(), filter);
			}
		}
		return filters;
	}

	@Override
	public List<Filter> find(HttpServletRequest request) {
		return this.filters.obtain()
			.entrySet()
			.stream()
			.filter((filter) -> isPassed(filter.getKey(), request))
			.map(Map.Entry::getValue)
			.distinct()
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

	/** As the Servlet specification says (section 12.2). */
	private static boolean matches(String pattern, String path) {
		if (pattern.endsWith("/*")) {
			String prefix = pattern.substring(0, pattern.length() - 2);
			return path.equals(prefix) || path.startsWith(prefix + "/");
		}
		return pattern.equals(path) || (pattern.startsWith("*.") && path.endsWith(pattern.substring(1)));
	}

}
