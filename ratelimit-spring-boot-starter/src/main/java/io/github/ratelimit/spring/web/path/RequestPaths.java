package io.github.ratelimit.spring.web.path;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.util.StringUtils;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The forms of the path that a request has reached. The application may serve the request
 * by any of them.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param whole the forms of the path behind the context path
 * @param inServlet the forms of the path behind that of the dispatcher servlet; empty if
 * the servlet has no path of its own
 */
record RequestPaths(List<PathContainer> whole, List<PathContainer> inServlet) {

	private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

	/** Characters that a container may leave encoded when it decodes a path. */
	private static final Pattern ENCODED_SLASH = Pattern.compile("%(2f|5c)", Pattern.CASE_INSENSITIVE);

	private static final Pattern SLASHES = Pattern.compile("[/\\\\]+");

	/**
	 * Returns the forms of a path: as the client wrote it, by which Spring MVC finds
	 * handlers, and as the container decoded it, by which it finds files and other
	 * servlets, so that {@code //a/./b} is {@code /a/b}. A later filter may remove a
	 * trailing slash. If the dispatcher servlet has a path of its own, Spring MVC finds
	 * handlers by the rest of the path.
	 * @throws IllegalArgumentException if the path cannot be decoded
	 */
	static RequestPaths of(HttpServletRequest request, DispatcherServlets dispatchers) {
		boolean include = request.getDispatcherType() == DispatcherType.INCLUDE
				&& request.getAttribute(RequestDispatcher.INCLUDE_REQUEST_URI) != null;
		String uri = include ? attribute(RequestDispatcher.INCLUDE_REQUEST_URI, request) : request.getRequestURI();
		String contextPath = include ? attribute(RequestDispatcher.INCLUDE_CONTEXT_PATH, request)
				: request.getContextPath();
		String servletPath = include ? attribute(RequestDispatcher.INCLUDE_SERVLET_PATH, request)
				: request.getServletPath();
		String pathInfo = include ? (String) request.getAttribute(RequestDispatcher.INCLUDE_PATH_INFO)
				: request.getPathInfo();
		String written = uri.startsWith(contextPath) ? uri.substring(contextPath.length()) : uri;
		String decoded = (pathInfo != null) ? servletPath + pathInfo : servletPath;
		List<PathContainer> whole = new ArrayList<>(1);
		whole.add(PathContainer.parsePath(written));
		if (!written.equals(decoded)) {
			whole.add(PathContainer.parsePath(decoded, DECODED));
		}
		addWithoutSlash(decoded, whole);
		addCleaned(whole);
		if (pathInfo == null || servletPath.isEmpty() || !dispatchers.serve(request, mapping(include, request))) {
			return new RequestPaths(whole, List.of());
		}
		List<PathContainer> inServlet = new ArrayList<>(2);
		addPathsInServlet(request, pathInfo, inServlet);
		return new RequestPaths(whole, inServlet);
	}

	private static String attribute(String name, HttpServletRequest request) {
		return Objects.toString(request.getAttribute(name), "");
	}

	/** Returns the mapping by which the container has found the servlet. */
	private static HttpServletMapping mapping(boolean include, HttpServletRequest request) {
		return (include
				&& request.getAttribute(RequestDispatcher.INCLUDE_MAPPING) instanceof HttpServletMapping mapping)
						? mapping : request.getHttpServletMapping();
	}

	/** Returns all forms. */
	List<PathContainer> all() {
		return this.inServlet.isEmpty() ? this.whole
				: Stream.concat(this.whole.stream(), this.inServlet.stream()).toList();
	}

	/**
	 * Returns whether a predicate matches all forms of the whole path, or all forms of
	 * the path in the servlet. A pattern with the path of the servlet matches no form
	 * without it, and vice versa.
	 */
	boolean allMatch(Predicate<PathContainer> predicate) {
		return this.whole.stream().allMatch(predicate)
				|| (!this.inServlet.isEmpty() && this.inServlet.stream().allMatch(predicate));
	}

	/**
	 * Adds the path as handlers of static resources clean it: they decode escapes that
	 * the container has left, replace backslashes by slashes, and merge repeated slashes.
	 */
	private static void addCleaned(List<PathContainer> paths) {
		int written = paths.size();
		for (int i = 0; i < written; i++) {
			PathContainer path = paths.get(i);
			String value = path.value();
			if (value.indexOf('%') >= 0 || value.indexOf('\\') >= 0 || value.contains("//") || value.contains("/.")) {
				String decoded = ENCODED_SLASH.matcher(decode(path)).replaceAll("/");
				String cleaned = StringUtils.cleanPath(SLASHES.matcher(decoded).replaceAll("/"));
				paths.add(PathContainer.parsePath(cleaned, DECODED));
				addWithoutSlash(cleaned, paths);
			}
		}
	}

	/** Decodes a path that is not decoded yet, without its parameters. */
	private static String decode(PathContainer path) {
		StringBuilder decoded = new StringBuilder();
		for (PathContainer.Element element : path.elements()) {
			decoded.append(
					(element instanceof PathContainer.PathSegment segment) ? segment.valueToMatch() : element.value());
		}
		return decoded.toString();
	}

	private static void addPathsInServlet(HttpServletRequest request, String pathInfo, List<PathContainer> paths) {
		try {
			RequestPath path = ServletRequestPathUtils.parse(request);
			paths.add(path.pathWithinApplication());
		}
		catch (IllegalArgumentException ex) {
			// Spring MVC cannot find the path of the servlet in the path as written, and
			// rejects the request.
		}
		paths.add(PathContainer.parsePath(pathInfo, DECODED));
		addWithoutSlash(pathInfo, paths);
	}

	private static void addWithoutSlash(String path, List<PathContainer> paths) {
		if (path.length() > 1 && path.endsWith("/")) {
			paths.add(PathContainer.parsePath(StringUtils.trimTrailingCharacter(path, '/'), DECODED));
		}
	}

}
