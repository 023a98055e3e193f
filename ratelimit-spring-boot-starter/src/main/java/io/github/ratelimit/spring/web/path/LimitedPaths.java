package io.github.ratelimit.spring.web.path;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The paths that policies limit.
 * <p>
 * Safe for use by several threads.
 */
public final class LimitedPaths {

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final List<Entry> entries = new ArrayList<>();

	private final PathPatternParser parser;

	/** Patterns of routes may begin with it, unlike those of handlers. */
	private final String servletPath;

	/**
	 * Reads the paths from properties.
	 * @param parser parses patterns with the options of the application
	 * @throws InvalidConfigurationPropertyValueException if a path is invalid, or a
	 * policy limits none of its paths
	 */
	public LimitedPaths(RateLimitProperties properties, ConfiguredPolicies policies, PathPatternParser parser,
			Environment environment) {
		this.parser = parser;
		this.servletPath = StringUtils.trimTrailingCharacter(environment.getProperty("spring.mvc.servlet.path", ""),
				'/');
		List<Route> excluded = readRoutes("ratelimit.exclude", properties.exclude(), 0);
		properties.policies().forEach((name, settings) -> {
			List<Route> limited = readRoutes(PolicyReader.property(name, ""), settings);
			List<Route> all = new ArrayList<>(excluded);
			all.addAll(readRoutes(PolicyReader.property(name, ".exclude"), settings.exclude(), 0));
			if (!limited.isEmpty()) {
				requireLimited(name, limited, all);
				this.entries.add(new Entry(policies.find(name).orElseThrow(), limited, all));
			}
		});
	}

	private List<Route> readRoutes(String prefix, PolicySettings settings) {
		List<Route> routes = new ArrayList<>();
		for (int i = 0; i < settings.routes().size(); i++) {
			RouteSettings route = settings.routes().get(i);
			String property = "%s.routes[%s].paths".formatted(prefix, i);
			if (route.paths().isEmpty()) {
				throw new InvalidConfigurationPropertyValueException(property, null,
						"A route must have at least one path. A source that sets a part of a list replaces the whole list.");
			}
			routes.addAll(readRoutes(property, route.paths(), route.cost()));
		}
		routes.addAll(readRoutes(prefix + ".paths", settings.paths(), settings.costOfPaths()));
		return routes;
	}

	private List<Route> readRoutes(String property, List<String> paths, long cost) {
		return PolicyReader.readEach(property, paths, (path) -> Route.parse(path, cost, this.parser));
	}

	/** Rejects a policy of which all paths are excluded. */
	private static void requireLimited(String name, List<Route> limited, List<Route> excluded) {
		if (limited.stream().allMatch((route) -> excluded.stream().anyMatch((other) -> other.covers(route)))) {
			throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".paths"),
					limited.stream().map(Route::text).toList(),
					"All of these are excluded, by %s, so that the policy limits none of them."
						.formatted(excluded.stream().map(Route::text).toList()));
		}
	}

	List<Entry> entries() {
		return this.entries;
	}

	PathPatternParser parser() {
		return this.parser;
	}

	String servletPath() {
		return this.servletPath;
	}

	/** Returns the policies that limit paths. */
	public List<IdentifiedPolicy> policies() {
		return this.entries.stream().map(Entry::policy).toList();
	}

	/** Returns the names of the policies that may deny a {@code GET} of a handler. */
	public List<String> denying(String path) {
		RequestPaths paths = new RequestPaths(List.of(PathContainer.parsePath(this.servletPath + path)),
				List.of(PathContainer.parsePath(path)));
		List<String> names = new ArrayList<>();
		for (Entry entry : this.entries) {
			PolicyUse use = entry.policy().enforcement().denies() ? entry.use("GET", paths) : null;
			if (use != null && use.cost() > 0) {
				names.add(use.policy().policy().name());
			}
		}
		return names;
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
			PolicyUse use = entry.use(request.getMethod(), paths);
			if (use != null) {
				uses.add(use);
			}
		}
		return uses;
	}

	/**
	 * A policy and its paths.
	 *
	 * @param routes the paths with their costs; the first that matches is used
	 * @param excluded paths among them that are not limited; may be empty
	 */
	record Entry(IdentifiedPolicy policy, List<Route> routes, List<Route> excluded) {

		/**
		 * Returns what a request uses of the policy; {@code null} if no form of its path
		 * matches, or all are excluded. If the forms have different costs, the highest is
		 * used.
		 */
		@Nullable PolicyUse use(String method, RequestPaths paths) {
			long cost = 0;
			List<String> patterns = List.of();
			// An iterator would be garbage for each policy, and most do not match.
			List<PathContainer> forms = paths.all();
			for (int i = 0; i < forms.size(); i++) {
				Route route = find(this.routes, method, forms.get(i));
				if (route != null) {
					cost = Math.max(cost, route.cost());
					patterns = with(route.pattern().getPatternString(), patterns);
				}
			}
			return (patterns.isEmpty() || isExcluded(method, paths)) ? null
					: new PolicyUse(this.policy, cost, Map.of(), patterns);
		}

		private boolean isExcluded(String method, RequestPaths paths) {
			return !this.excluded.isEmpty() && paths.allMatch((path) -> find(this.excluded, method, path) != null);
		}

		private static List<String> with(String pattern, List<String> patterns) {
			return patterns.isEmpty() ? List.of(pattern)
					: Stream.concat(patterns.stream(), Stream.of(pattern)).distinct().toList();
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
