package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.util.ClassUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Tells at the start which policies count a request twice: by its path, and by the
 * annotation of the controller method that serves it. That is right where a method is
 * meant to cost more than its path, and surprising elsewhere. Methods that controllers
 * call are not known by then.
 */
final class CountedTwice implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(CountedTwice.class);

	/** A pattern may have percent signs that escape nothing. */
	private static final PathContainer.Options AS_WRITTEN = PathContainer.Options.create('/', false);

	private final List<PathPolicy> paths;

	private final AnnotatedPolicies annotated;

	private final ObjectProvider<RequestMappingInfoHandlerMapping> mappings;

	CountedTwice(List<PathPolicy> paths, AnnotatedPolicies annotated,
			ObjectProvider<RequestMappingInfoHandlerMapping> mappings) {
		this.paths = paths;
		this.annotated = annotated;
		this.mappings = mappings;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		Set<String> found = new TreeSet<>();
		this.mappings.stream()
			.flatMap((mapping) -> mapping.getHandlerMethods().entrySet().stream())
			.forEach((handler) -> find(handler, found));
		if (!found.isEmpty()) {
			logger.warn("These policies count a request by its path, and again by @RateLimited: {}", found);
		}
	}

	private void find(Map.Entry<RequestMappingInfo, HandlerMethod> handler, Set<String> found) {
		HandlerMethod method = handler.getValue();
		Set<String> annotated = this.annotated.policyNames(method.getMethod(), method.getBeanType());
		for (PathPolicy policy : this.paths) {
			String name = policy.policy().policy().name();
			if (annotated.contains(name)
					&& policy.routes().stream().anyMatch((route) -> reaches(route, handler.getKey()))
					&& policy.excluded()
						.stream()
						.noneMatch((route) -> route.method() == null && reaches(route, handler.getKey()))) {
				found.add("%s (%s.%s)".formatted(name, ClassUtils.getShortName(method.getBeanType()),
						method.getMethod().getName()));
			}
		}
	}

	/** A variable of a mapping stands for a segment, as any other text does. */
	private static boolean reaches(Route route, RequestMappingInfo mapping) {
		Set<String> methods = new TreeSet<>();
		mapping.getMethodsCondition().getMethods().forEach((method) -> methods.add(method.name()));
		HttpMethod method = route.method();
		return (method == null || methods.isEmpty() || methods.contains(method.name())) && mapping.getPatternValues()
			.stream()
			.anyMatch((pattern) -> route.pattern().matches(PathContainer.parsePath(pattern, AS_WRITTEN)));
	}

}
