package io.github.ratelimit.spring.web.path;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * A path pattern with an HTTP method, and the cost of requests that match.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param method the method, {@code null} for any; {@code GET} includes {@code HEAD}
 * @param pattern the pattern, matched against the parsed path behind the context path
 * @param cost what a request uses of each quota, 0 or more
 */
public record Route(@Nullable HttpMethod method, PathPattern pattern, long cost) {

	/**
	 * Parses a route.
	 * @param text a path pattern, optionally after a method: {@code /api/**} or
	 * {@code GET /user/**}
	 * @param cost what a request uses of each quota, 0 or more
	 * @param parser parses the pattern with the options of the application
	 * @return the route
	 * @throws IllegalArgumentException if the method is unknown or the pattern is invalid
	 */
	public static Route parse(String text, long cost, PathPatternParser parser) {
		String[] words = text.strip().split("\\s+");
		String path = words[words.length - 1];
		String problem = (words.length <= 2) ? PathSpelling.problem(path, parser) : null;
		if (problem != null) {
			throw new IllegalArgumentException("Invalid path (%s): must be %s.".formatted(text, problem));
		}
		if (words.length > 2 || !path.startsWith("/")) {
			throw new IllegalArgumentException(
					"Invalid path (%s): must be a pattern such as /api/** or GET /user/**.".formatted(text));
		}
		try {
			PathPattern pattern = parser.parse(path);
			return new Route((words.length == 2) ? method(words[0], text) : null, pattern, cost);
		}
		catch (PatternParseException ex) {
			throw new IllegalArgumentException("Invalid path (%s): %s".formatted(text, ex.toDetailedString()), ex);
		}
	}

	private static HttpMethod method(String name, String text) {
		HttpMethod method = HttpMethod.valueOf(name);
		if (!List.of(HttpMethod.values()).contains(method)) {
			throw new IllegalArgumentException("Invalid path (%s): %s is no HTTP method.".formatted(text, name));
		}
		return method;
	}

	/**
	 * Returns whether every request that matches another route matches this one. Returns
	 * false if that is unknown.
	 */
	boolean covers(Route other) {
		if (this.method != null && !this.method.equals(other.method)) {
			return false;
		}
		String[] segments = this.pattern.getPatternString().split("/", -1);
		String[] others = other.pattern.getPatternString().split("/", -1);
		for (int i = 0; i < segments.length; i++) {
			if (PathShape.isTail(segments[i])) {
				return true;
			}
			if (i >= others.length || !segments[i].equals(others[i])) {
				return false;
			}
		}
		return segments.length == others.length;
	}

	/** Returns the route as it is written in configuration. */
	public String text() {
		String path = this.pattern.getPatternString();
		return (this.method != null) ? this.method.name() + ' ' + path : path;
	}

	boolean matches(String method, PathContainer path) {
		return matchesMethod(method) && this.pattern.matches(path);
	}

	private boolean matchesMethod(String name) {
		return this.method == null || this.method.matches(name)
				|| (this.method.equals(HttpMethod.GET) && HttpMethod.HEAD.matches(name));
	}

}
