package io.github.ratelimit.spring.web.path;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Finds which requests Spring MVC serves, rather than another servlet.
 */
public final class DispatcherServlets {

	/** Whether servlets are dispatcher servlets, by their names. */
	private final Map<String, Boolean> dispatchers = new ConcurrentHashMap<>();

	public boolean serve(HttpServletRequest request) {
		return serve(request, request.getHttpServletMapping());
	}

	/** Returns whether a mapping leads to Spring MVC. */
	public boolean serve(HttpServletRequest request, HttpServletMapping mapping) {
		return this.dispatchers.computeIfAbsent(mapping.getServletName(), (name) -> {
			ServletContext context = request.getServletContext();
			ServletRegistration servlet = context.getServletRegistration(name);
			return servlet != null && servlet.getClassName() != null && DispatcherServlet.class
				.isAssignableFrom(ClassUtils.resolveClassName(servlet.getClassName(), context.getClassLoader()));
		});
	}

}
