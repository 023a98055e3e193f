package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.web.path.LimitedPaths;
import io.github.ratelimit.spring.web.path.PathShape;
import io.github.ratelimit.spring.web.path.Route;
import io.github.ratelimit.spring.web.path.ServedPaths;
import jakarta.servlet.ServletContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.util.StringUtils;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Logs at startup which paths limit nothing, because nothing can serve them: most likely
 * they are misspelt. Filters and router functions may answer any path; if the application
 * has some, only paths that are almost another one are told.
 */
final class UnservedPaths implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(UnservedPaths.class);

	private final LimitedPaths paths;

	private final PathPatternParser parser;

	private final LoginFilters filters;

	private final ObjectProvider<HandlerMapping> mappings;

	private final WebApplicationContext context;

	private final String servletPath;

	UnservedPaths(LimitedPaths paths, PathPatternParser parser, LoginFilters filters,
			ObjectProvider<HandlerMapping> mappings, WebApplicationContext context) {
		this.paths = paths;
		this.parser = parser;
		this.filters = filters;
		this.mappings = mappings;
		this.context = context;
		this.servletPath = StringUtils
			.trimTrailingCharacter(context.getEnvironment().getProperty("spring.mvc.servlet.path", ""), '/');
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		ServletContext servlets = this.context.getServletContext();
		if (servlets == null || this.paths.policies().isEmpty()) {
			return;
		}
		ServedPaths served = new ServedPaths(this.mappings.stream(), servlets, this.servletPath);
		List<String> found = new ArrayList<>();
		for (LimitedPaths.Entry entry : this.paths.entries()) {
			Policy policy = entry.policy().policy();
			for (Route route : entry.routes()) {
				String nearest = nearest(route, policy, served, servlets.getContextPath());
				if (nearest != null) {
					found.add("%s of %s%s".formatted(route.text(), PolicyReader.property(policy.name(), ""), nearest));
				}
			}
		}
		if (!found.isEmpty()) {
			logger.warn("No handler, static resource or servlet serves these paths, so that they limit nothing: {}",
					String.join("; ", found));
		}
	}

	/** Returns a text about the path that may be meant; {@code null} if all is well. */
	private @Nullable String nearest(Route route, Policy policy, ServedPaths served, @Nullable String contextPath) {
		String pattern = route.pattern().getPatternString();
		PathShape path = PathShape.of(pattern, this.parser);
		if (served.mayServe(path)) {
			return null;
		}
		if (StringUtils.hasLength(contextPath) && pattern.startsWith(contextPath + "/")) {
			String rest = pattern.substring(contextPath.length());
			if (served.mayServe(PathShape.of(rest, this.parser))) {
				return " (the context path is not part of it: " + rest + ")";
			}
		}
		List<String> patterns = served.patterns()
			.stream()
			.flatMap((other) -> Stream.of(other, this.servletPath + other).distinct())
			.toList();
		Optional<String> nearest = patterns.stream()
			.filter(path::isMisspelt)
			.min(Comparator.comparingInt(path::distance));
		if (nearest.isEmpty() && !isMeant(policy) && !this.filters.exist()) {
			nearest = Optional.of(patterns.stream().min(Comparator.comparingInt(path::distance)).orElse("none"));
		}
		return nearest.map((other) -> " (the nearest is " + other + ")").orElse(null);
	}

	/**
	 * A policy may be there for those who look for what the application does not have.
	 */
	private static boolean isMeant(Policy policy) {
		return policy.penalty() != null || policy.limits().stream().allMatch((limit) -> limit.quota() == 0);
	}

}
