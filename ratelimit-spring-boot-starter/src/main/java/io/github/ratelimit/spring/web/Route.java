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
 * Requests of one method, or of any, on the paths of a pattern, and what they cost.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param method the method, {@code null} for any; {@code GET} is also {@code HEAD}
 * @param pattern the pattern, matched against the parsed path behind the context path
 * @param cost what a request uses of each quota, 0 or more
 * @since 0.1
 */
public record Route(@Nullable HttpMethod method, PathPattern pattern, long cost) {

	/** A route of the first serves the second as well. */
	private static final List<HttpMethod> SAME_METHODS = List.of(HttpMethod.GET, HttpMethod.HEAD);

	/**
	 * Reads a route.
	 * @param text a path pattern, which may stand behind a method: {@code /api/**} or
	 * {@code GET /user/**}
	 * @param cost what a request uses of each quota, 0 or more
	 * @param parser reads the pattern, as the application reads its own
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
	 * Returns whether some request may match this route and another. It says so, too,
	 * where that cannot be known.
	 */
	boolean mayMeet(Route other) {
		if (this.method != null && other.method != null && !this.method.equals(other.method)
				&& !SAME_METHODS.containsAll(List.of(this.method, other.method))) {
			return false;
		}
		String[] segments = segments();
		String[] others = other.segments();
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
	 * Returns whether every request that matches another route matches this one. It does
	 * not say so where that cannot be known.
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
		return this.pattern.getPatternString().split("/", -1);
	}

	/** Whether a segment of a pattern stands for any number of them. */
	private static boolean isTail(String segment) {
		return segment.equals("**") || segment.startsWith("{*");
	}

	/** Escapes and wildcards may stand for other letters. */
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
