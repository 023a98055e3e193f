package io.github.ratelimit.spring.web.path;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;

import org.springframework.core.NativeDetector;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.web.context.support.ServletContextResource;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.resource.PathResourceResolver;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;

/**
 * The paths that handlers of Spring MVC, static resources and other servlets serve.
 */
public final class ServedPaths {

	private static final String ANY = "/**";

	/** The servlet of Spring MVC that Spring Boot registers. */
	private static final String DISPATCHER = "dispatcherServlet";

	private final Set<String> patterns = new TreeSet<>();

	/** Where static resources of any path are looked up. */
	private final List<Resource> locations = new ArrayList<>();

	/** Patterns of routes may begin with it, unlike those of handlers. */
	private final String servletPath;

	/**
	 * Collects the paths of an application that has started.
	 * @param mappings those of Spring MVC
	 * @param servlets has the servlets of the application
	 * @param servletPath the path of Spring MVC's servlet; empty if it serves all
	 */
	public ServedPaths(Stream<HandlerMapping> mappings, ServletContext servlets, String servletPath) {
		this.servletPath = servletPath;
		mappings.forEach(this::add);
		servlets.getServletRegistrations().values().forEach(this::add);
	}

	private void add(HandlerMapping mapping) {
		if (mapping instanceof AbstractHandlerMapping other && other.getDefaultHandler() != null) {
			this.patterns.add(ANY);
		}
		if (mapping instanceof RequestMappingInfoHandlerMapping methods) {
			methods.getHandlerMethods().keySet().forEach((info) -> this.patterns.addAll(info.getPatternValues()));
		}
		else if (mapping instanceof AbstractUrlHandlerMapping urls) {
			urls.getHandlerMap().forEach(this::add);
			this.patterns.addAll((urls.getRootHandler() != null) ? Set.of("/") : Set.of());
		}
		else if (mapping instanceof RouterFunctionMapping router) {
			RouterFunction<?> function = router.getRouterFunction();
			this.patterns.addAll((function != null) ? RouterPaths.of(function) : Set.of());
		}
		else {
			this.patterns.add(ANY);
		}
	}

	private void add(String pattern, Object handler) {
		if (pattern.equals(ANY) && handler.getClass() == ResourceHttpRequestHandler.class
				&& isOfApplication((ResourceHttpRequestHandler) handler)) {
			this.locations.addAll(((ResourceHttpRequestHandler) handler).getLocations());
		}
		else {
			this.patterns.add(pattern);
		}
	}

	/** Returns whether it is certain which resources there are. */
	private static boolean isOfApplication(ResourceHttpRequestHandler handler) {
		return !NativeDetector.inNativeImage()
				&& handler.getResourceResolvers()
					.stream()
					.allMatch((resolver) -> resolver.getClass() == PathResourceResolver.class)
				&& handler.getLocations()
					.stream()
					.allMatch((location) -> location instanceof ClassPathResource
							|| location instanceof ServletContextResource);
	}

	private void add(ServletRegistration servlet) {
		if (servlet.getName().equals(DISPATCHER)) {
			return;
		}
		for (String mapping : servlet.getMappings()) {
			if (!mapping.startsWith("*.jsp")) {
				this.patterns.add(mapping.equals("/") || mapping.startsWith("*.") ? ANY
						: mapping.endsWith("/*") ? mapping + "*" : mapping);
			}
		}
	}

	/** Returns the patterns, sorted. */
	public Set<String> patterns() {
		return this.patterns;
	}

	/** Returns whether some request of a path may be served. */
	public boolean mayServe(PathShape path) {
		return this.patterns.stream()
			.anyMatch((pattern) -> path.mayMeet(pattern) || path.mayMeet(this.servletPath + pattern))
				|| this.locations.stream().anyMatch((location) -> mayContain(location, path));
	}

	/** A file of the path, or any file below it. */
	private boolean mayContain(Resource location, PathShape path) {
		String prefix = path.literalPrefix();
		String file = prefix.startsWith(this.servletPath + "/") ? prefix.substring(this.servletPath.length()) : prefix;
		try {
			return file.isEmpty() || file.equals("/")
					|| location.createRelative(file.substring(1) + (path.isLiteral() ? "" : "/")).exists();
		}
		catch (Exception ex) {
			return true;
		}
	}

}
