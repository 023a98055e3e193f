package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.util.StringUtils;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Finds the forms of the path that a request has reached, by each of which something may
 * be found and served.
 */
final class PathForms {

	private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

	/** What a container may leave encoded when it decodes a path. */
	private static final Pattern ENCODED_SLASH = Pattern.compile("%(2f|5c)", Pattern.CASE_INSENSITIVE);

	private static final Pattern SLASHES = Pattern.compile("[/\\\\]+");

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	/**
	 * Returns the path behind the context path, as the client wrote it, by which handlers
	 * are found, and as the container understood it, by which files and other servlets
	 * are found: {@code //a/./b} is {@code /a/b} for them. A slash at the end may be
	 * taken away by a filter that comes later. If the dispatcher servlet has a path of
	 * its own, handlers are found by what stands behind that.
	 * @throws IllegalArgumentException if the path cannot be decoded
	 */
	RequestPaths of(HttpServletRequest request) {
		Target target = Target.of(request);
		String written = target.written();
		String understood = target.understood();
		List<PathContainer> paths = new ArrayList<>(1);
		paths.add(PathContainer.parsePath(written));
		if (!written.equals(understood)) {
			paths.add(PathContainer.parsePath(understood, DECODED));
		}
		addWithoutSlash(understood, paths);
		addCleaned(paths);
		String pathInfo = target.pathInfo();
		List<PathContainer> inServlet = List.of();
		if (pathInfo != null && !target.servletPath().isEmpty() && this.dispatchers.serve(request, mapping(request))) {
			inServlet = new ArrayList<>(2);
			addPathsInServlet(request, pathInfo, inServlet);
		}
		return new RequestPaths(paths, inServlet);
	}

	/**
	 * Adds the path as handlers of static resources understand it: they decode what the
	 * container has let through, take backslashes for slashes, and several of them for
	 * one.
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

	/** Decodes a path, if it is not decoded yet, and leaves its parameters out. */
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
			// Spring MVC cannot find the servlet's path in what the client wrote, and
			// refuses the request.
		}
		paths.add(PathContainer.parsePath(pathInfo, DECODED));
		addWithoutSlash(pathInfo, paths);
	}

	/** How the container has found the servlet. */
	private static HttpServletMapping mapping(HttpServletRequest request) {
		return (included(RequestDispatcher.INCLUDE_MAPPING, request) instanceof HttpServletMapping mapping) ? mapping
				: request.getHttpServletMapping();
	}

	/** An attribute of an include; {@code null} in other dispatches. */
	private static @Nullable Object included(String attribute, HttpServletRequest request) {
		return (request.getDispatcherType() == DispatcherType.INCLUDE) ? request.getAttribute(attribute) : null;
	}

	private static void addWithoutSlash(String path, List<PathContainer> paths) {
		if (path.length() > 1 && path.endsWith("/")) {
			paths.add(PathContainer.parsePath(StringUtils.trimTrailingCharacter(path, '/'), DECODED));
		}
	}

	/**
	 * The path to be served: that of the request, or in an include that of an attribute.
	 */
	private record Target(String uri, String contextPath, String servletPath, @Nullable String pathInfo) {

		static Target of(HttpServletRequest request) {
			Object uri = included(RequestDispatcher.INCLUDE_REQUEST_URI, request);
			if (uri == null) {
				return new Target(request.getRequestURI(), request.getContextPath(), request.getServletPath(),
						request.getPathInfo());
			}
			return new Target(uri.toString(), attribute(RequestDispatcher.INCLUDE_CONTEXT_PATH, request),
					attribute(RequestDispatcher.INCLUDE_SERVLET_PATH, request),
					(String) request.getAttribute(RequestDispatcher.INCLUDE_PATH_INFO));
		}

		private static String attribute(String name, HttpServletRequest request) {
			return Objects.toString(request.getAttribute(name), "");
		}

		String written() {
			return this.uri.startsWith(this.contextPath) ? this.uri.substring(this.contextPath.length()) : this.uri;
		}

		String understood() {
			return (this.pathInfo != null) ? this.servletPath + this.pathInfo : this.servletPath;
		}

	}

}
