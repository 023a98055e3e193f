package io.github.ratelimit.spring.web;

import java.util.List;

import jakarta.servlet.http.HttpServletRequest;
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
 * @since 0.1
 */
record Route(@Nullable HttpMethod method, PathPattern pattern, long cost) {

	/** A route for the first includes the second. */
	private static final List<HttpMethod> SAME_METHODS = List.of(HttpMethod.GET, HttpMethod.HEAD);

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
		for (HttpMethod known : HttpMethod.values()) {
			if (known.equals(method)) {
				return known;
			}
		}
		throw new IllegalArgumentException("Invalid path (%s): %s is no HTTP method.".formatted(text, name));
	}

	/**
	 * Returns whether some request may match both this route and another. Returns true if
	 * that is unknown.
	 */
	boolean mayMeet(Route other) {
		return mayMeet(other.method, other.pattern.getPatternString());
	}

	/**
	 * Returns whether some request may match both this route and another. Returns true if
	 * that is unknown.
	 * @param otherMethod the method of the other route, {@code null} for any
	 * @param otherPattern the pattern of the other route
	 */
	boolean mayMeet(@Nullable HttpMethod otherMethod, String otherPattern) {
		if (this.method != null && otherMethod != null && !this.method.equals(otherMethod)
				&& !SAME_METHODS.containsAll(List.of(this.method, otherMethod))) {
			return false;
		}
		String[] segments = segments();
		String[] others = segments(otherPattern);
		for (int i = 0; i < Math.min(segments.length, others.length); i++) {
			if (isTail(segments[i]) || isTail(others[i])) {
				return true;
			}
			if (isLiteral(segments[i]) && isLiteral(others[i]) && !segments[i].equalsIgnoreCase(others[i])) {
				return false;
			}
		}
		String[] longer = (segments.length > others.length) ? segments : others;
		int next = Math.min(segments.length, others.length);
		return longer.length == next || isTail(longer[next]);
	}

	/**
	 * Returns whether every request that matches another route matches this one. Returns
	 * false if that is unknown.
	 */
	boolean covers(Route other) {
		if (this.method != null && !this.method.equals(other.method)) {
			return false;
		}
		String[] segments = segments();
		String[] others = other.segments();
		for (int i = 0; i < segments.length; i++) {
			if (isTail(segments[i])) {
				return true;
			}
			if (i >= others.length || !segments[i].equals(others[i])) {
				return false;
			}
		}
		return segments.length == others.length;
	}

	/** Returns the route as it is written in configuration. */
	String text() {
		String path = this.pattern.getPatternString();
		return (this.method != null) ? this.method.name() + ' ' + path : path;
	}

	private String[] segments() {
		return segments(this.pattern.getPatternString());
	}

	private static String[] segments(String pattern) {
		return pattern.split("/", -1);
	}

	/** Returns whether a segment of a pattern matches any number of segments. */
	private static boolean isTail(String segment) {
		return segment.equals("**") || segment.startsWith("{*");
	}

	/** Returns whether a segment has no wildcards or escapes, which match other text. */
	private static boolean isLiteral(String segment) {
		return segment.chars().noneMatch((c) -> "*?{%;\\".indexOf(c) >= 0);
	}

	boolean matches(HttpServletRequest request, PathContainer path) {
		return matchesMethod(request.getMethod()) && this.pattern.matches(path);
	}

	private boolean matchesMethod(String name) {
		return this.method == null || this.method.matches(name)
				|| (this.method.equals(HttpMethod.GET) && HttpMethod.HEAD.matches(name));
	}

}
