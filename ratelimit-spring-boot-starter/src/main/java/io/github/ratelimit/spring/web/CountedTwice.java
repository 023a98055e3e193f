package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Logs at startup which policies count a request twice: by its path, and by the
 * annotation of the controller method that serves it. This may be intended, if the method
 * costs more than its path. Annotated methods that controllers call are not checked.
 */
final class CountedTwice implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(CountedTwice.class);

	/** A pattern may contain percent signs that are not escapes. */
	private static final PathContainer.Options AS_WRITTEN = PathContainer.Options.create('/', false);

	private final LimitedPaths paths;

	private final AnnotatedPolicies annotated;

	private final ObjectProvider<RequestMappingInfoHandlerMapping> mappings;

	/** Patterns of routes may begin with it, unlike those of mappings. */
	private final String servletPath;

	CountedTwice(LimitedPaths paths, AnnotatedPolicies annotated,
			ObjectProvider<RequestMappingInfoHandlerMapping> mappings, String servletPath) {
		this.paths = paths;
		this.annotated = annotated;
		this.mappings = mappings;
		this.servletPath = StringUtils.trimTrailingCharacter(servletPath, '/');
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		Set<String> found = new TreeSet<>();
		this.mappings.stream()
			.flatMap((mapping) -> mapping.getHandlerMethods().entrySet().stream())
			.forEach((handler) -> find(handler, found));
		if (!found.isEmpty()) {
			logger.warn("These policies may count a request by its path, and again by @RateLimited: {}", found);
		}
	}

	private void find(Map.Entry<RequestMappingInfo, HandlerMethod> handler, Set<String> found) {
		HandlerMethod method = handler.getValue();
		Set<String> annotated = this.annotated.find(method.getMethod(), method.getBeanType())
			.stream()
			.map((policy) -> policy.policy().name())
			.collect(Collectors.toSet());
		List<HttpMethod> methods = handler.getKey()
			.getMethodsCondition()
			.getMethods()
			.stream()
			.map(RequestMethod::asHttpMethod)
			.toList();
		for (String pattern : handler.getKey().getPatternValues()) {
			List<String> forms = List.of(pattern, this.servletPath + pattern);
			this.paths.policies((route) -> mayMatch(route, methods, forms), (route) -> matches(route, forms))
				.stream()
				.map((policy) -> policy.policy().name())
				.filter(annotated::contains)
				.forEach((name) -> found.add("%s (%s.%s)".formatted(name, ClassUtils.getShortName(method.getBeanType()),
						method.getMethod().getName())));
		}
	}

	private static boolean mayMatch(Route route, List<HttpMethod> methods, List<String> forms) {
		return forms.stream()
			.anyMatch((pattern) -> methods.isEmpty() ? route.mayMeet(null, pattern)
					: methods.stream().anyMatch((method) -> route.mayMeet(method, pattern)));
	}

	/**
	 * Returns whether a route matches all requests of a mapping. Its variables are
	 * compared as text.
	 */
	private static boolean matches(Route route, List<String> forms) {
		return route.method() == null && forms.stream()
			.anyMatch((pattern) -> route.pattern().matches(PathContainer.parsePath(pattern, AS_WRITTEN)));
	}

}
