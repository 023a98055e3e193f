package io.github.ratelimit.spring.web.path;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.server.PathContainer;

/**
 * The paths that policies limit.
 * <p>
 * Safe for use by several threads.
 */
public final class LimitedPaths {

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final List<Entry> entries;

	LimitedPaths(List<Entry> entries) {
		this.entries = List.copyOf(entries);
	}

	List<Entry> entries() {
		return this.entries;
	}

	/** Returns the policies that limit paths. */
	public List<IdentifiedPolicy> policies() {
		return this.entries.stream().map(Entry::policy).toList();
	}

	/**
	 * Returns the names of the policies that may deny a {@code GET} of a path, in any of
	 * its forms.
	 */
	public List<String> denying(List<String> forms) {
		List<PathContainer> paths = forms.stream().map(PathContainer::parsePath).toList();
		return this.entries.stream()
			.filter((entry) -> entry.policy().enforcement().mode() == Mode.ENFORCE && entry.limits(paths))
			.map((entry) -> entry.policy().policy().name())
			.toList();
	}

	/**
	 * Returns what a request uses of the policies of its path.
	 * @throws IllegalArgumentException if the path cannot be decoded
	 */
	public List<PolicyUse> uses(HttpServletRequest request) {
		if (this.entries.isEmpty()) {
			return List.of();
		}
		RequestPaths paths = RequestPaths.of(request, this.dispatchers);
		List<PolicyUse> uses = new ArrayList<>(2);
		for (Entry entry : this.entries) {
			PolicyUse use = entry.use(request, paths);
			if (use != null) {
				uses.add(use);
			}
		}
		return uses;
	}

	/**
	 * A policy and its paths.
	 *
	 * @param policy the policy
	 * @param routes the paths with their costs; the first that matches is used
	 * @param excluded paths among them that are not limited; may be empty
	 */
	record Entry(IdentifiedPolicy policy, List<Route> routes, List<Route> excluded) {

		Entry {
			routes = List.copyOf(routes);
			excluded = List.copyOf(excluded);
		}

		/**
		 * Returns what a request uses of the policy; {@code null} if no form of its path
		 * matches, or all are excluded. If the forms have different costs, the highest is
		 * used.
		 */
		@Nullable PolicyUse use(HttpServletRequest request, RequestPaths paths) {
			long cost = 0;
			List<String> patterns = List.of();
			// An iterator would be garbage for each policy, and most do not match.
			List<PathContainer> forms = paths.all();
			for (int i = 0; i < forms.size(); i++) {
				Route route = find(this.routes, request.getMethod(), forms.get(i));
				if (route != null) {
					cost = Math.max(cost, route.cost());
					patterns = with(route.pattern().getPatternString(), patterns);
				}
			}
			// Exclusions come last, because most policies do not match.
			return (patterns.isEmpty() || isExcluded(request, paths)) ? null
					: new PolicyUse(this.policy, cost, Map.of(), patterns);
		}

		private boolean isExcluded(HttpServletRequest request, RequestPaths paths) {
			return !this.excluded.isEmpty()
					&& paths.allMatch((path) -> find(this.excluded, request.getMethod(), path) != null);
		}

		private static List<String> with(String pattern, List<String> patterns) {
			return patterns.isEmpty() ? List.of(pattern)
					: Stream.concat(patterns.stream(), Stream.of(pattern)).distinct().toList();
		}

		private boolean limits(List<PathContainer> forms) {
			return forms.stream().anyMatch((path) -> {
				Route route = find(this.routes, "GET", path);
				return route != null && route.cost() > 0;
			}) && forms.stream().noneMatch((path) -> find(this.excluded, "GET", path) != null);
		}

		private static @Nullable Route find(List<Route> routes, String method, PathContainer path) {
			for (int i = 0; i < routes.size(); i++) {
				if (routes.get(i).matches(method, path)) {
					return routes.get(i);
				}
			}
			return null;
		}

	}

}
