package io.github.ratelimit.spring.web.path;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.config.PolicyReader;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.NativeDetector;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.util.StringUtils;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.support.ServletContextResource;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.resource.PathResourceResolver;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;

/**
 * Logs at startup which paths limit nothing, because no handler, static resource or other
 * servlet serves them: most likely they are misspelt. Router functions may serve any
 * path. Filters may answer any path; if the application has some, only paths that are
 * almost another one are told.
 */
public final class UnservedPaths implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(UnservedPaths.class);

	private static final String ANY = "/**";

	/** The servlet of Spring MVC that Spring Boot registers. */
	private static final String DISPATCHER = "dispatcherServlet";

	private final LimitedPaths paths;

	private final BooleanSupplier filters;

	private final ObjectProvider<HandlerMapping> mappings;

	private final WebApplicationContext context;

	/** Patterns with the path of the servlet and without it. */
	private final Set<String> served = new TreeSet<>();

	/** Where static resources of any path are looked up. */
	private final List<Resource> locations = new ArrayList<>();

	/**
	 * Creates a listener.
	 * @param filters returns whether filters may answer requests
	 */
	public UnservedPaths(LimitedPaths paths, BooleanSupplier filters, ObjectProvider<HandlerMapping> mappings,
			WebApplicationContext context) {
		this.paths = paths;
		this.filters = filters;
		this.mappings = mappings;
		this.context = context;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		ServletContext servlets = this.context.getServletContext();
		if (servlets == null || this.paths.policies().isEmpty()) {
			return;
		}
		this.mappings.forEach(this::add);
		servlets.getServletRegistrations().values().forEach(this::add);
		List<String> found = new ArrayList<>();
		for (LimitedPaths.Entry entry : this.paths.entries()) {
			Policy policy = entry.policy().policy();
			for (Route route : entry.routes()) {
				String meant = meant(route.pattern().getPatternString(), policy, servlets.getContextPath());
				if (meant != null && entry.policy().enforcement().enabled()) {
					found.add("%s of %s (%s)".formatted(route.text(), PolicyReader.property(policy.name(), ""), meant));
				}
			}
		}
		if (!found.isEmpty()) {
			logger.warn("No handler, static resource or servlet serves these paths, so that they limit nothing: {}",
					String.join("; ", found));
		}
	}

	private void add(HandlerMapping mapping) {
		if (mapping instanceof AbstractHandlerMapping other && other.getDefaultHandler() != null) {
			add(ANY);
		}
		if (mapping instanceof RequestMappingInfoHandlerMapping methods) {
			methods.getHandlerMethods().keySet().forEach((info) -> info.getPatternValues().forEach(this::add));
		}
		else if (mapping instanceof AbstractUrlHandlerMapping urls) {
			urls.getHandlerMap().forEach(this::add);
			if (urls.getRootHandler() != null) {
				add("/");
			}
		}
		else if (!(mapping instanceof RouterFunctionMapping router) || router.getRouterFunction() != null) {
			add(ANY);
		}
	}

	private void add(String pattern, Object handler) {
		if (pattern.equals(ANY) && handler instanceof ResourceHttpRequestHandler files && isKnown(files)) {
			this.locations.addAll(files.getLocations());
		}
		else {
			add(pattern);
		}
	}

	private void add(String pattern) {
		this.served.add(pattern);
		this.served.add(this.paths.servletPath() + pattern);
	}

	/** Returns whether it is certain which files a handler serves. */
	private static boolean isKnown(ResourceHttpRequestHandler files) {
		return !NativeDetector.inNativeImage()
				&& files.getResourceResolvers()
					.stream()
					.allMatch((resolver) -> resolver.getClass() == PathResourceResolver.class)
				&& files.getLocations()
					.stream()
					.allMatch((location) -> location instanceof ClassPathResource
							|| location instanceof ServletContextResource);
	}

	private void add(ServletRegistration servlet) {
		for (String mapping : servlet.getName().equals(DISPATCHER) ? Set.<String>of() : servlet.getMappings()) {
			if (!mapping.startsWith("*.jsp")) {
				add(mapping.equals("/") || mapping.startsWith("*.") ? ANY
						: mapping.endsWith("/*") ? mapping + "*" : mapping);
			}
		}
	}

	/** Returns a text about the path that may be meant; {@code null} if all is well. */
	private @Nullable String meant(String pattern, Policy policy, @Nullable String contextPath) {
		PathShape path = PathShape.of(pattern, this.paths.parser());
		if (mayBeServed(path)) {
			return null;
		}
		if (StringUtils.hasLength(contextPath) && pattern.startsWith(contextPath + "/")) {
			String rest = pattern.substring(contextPath.length());
			if (mayBeServed(PathShape.of(rest, this.paths.parser()))) {
				return "the context path is not part of it: " + rest;
			}
		}
		// A policy may be there for those who look for what the application does not
		// have.
		boolean any = policy.penalty() == null && policy.limits().stream().anyMatch((limit) -> limit.quota() > 0)
				&& !this.filters.getAsBoolean();
		return this.served.stream()
			.filter((other) -> any || path.isMisspelt(other))
			.min(Comparator.comparingInt(path::distance))
			.map((other) -> "the nearest is " + other)
			.orElse(any ? "there are none" : null);
	}

	private boolean mayBeServed(PathShape path) {
		return this.served.stream().anyMatch(path::mayMeet)
				|| this.locations.stream().anyMatch((location) -> mayContain(location, path));
	}

	/** A file of the path, or any file below it. */
	private boolean mayContain(Resource location, PathShape path) {
		String prefix = path.literalPrefix();
		String servletPath = this.paths.servletPath();
		String file = prefix.startsWith(servletPath + "/") ? prefix.substring(servletPath.length()) : prefix;
		try {
			return file.isEmpty() || file.equals("/")
					|| location.createRelative(file.substring(1) + (path.isLiteral() ? "" : "/")).exists();
		}
		catch (Exception ex) {
			return true;
		}
	}

}
