package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.springframework.http.server.PathContainer;

/**
 * The forms of the path of a request, by any of which it may be served.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param whole the forms of the path behind the context path
 * @param inServlet the forms of what stands behind the path of the dispatcher servlet;
 * empty if that has no path of its own
 */
record RequestPaths(List<PathContainer> whole, List<PathContainer> inServlet) {

	/** Of a request that no policy of a path concerns. */
	static final RequestPaths NONE = new RequestPaths(List.of(), List.of());

	/** Returns all forms. */
	List<PathContainer> all() {
		return this.inServlet.isEmpty() ? this.whole
				: Stream.concat(this.whole.stream(), this.inServlet.stream()).toList();
	}

	/**
	 * Returns whether all forms match, of the whole path or of what stands behind the
	 * path of the servlet: a path that is written with the servlet's, or without it, can
	 * match no form of the other kind.
	 */
	boolean allMatch(Predicate<PathContainer> predicate) {
		return this.whole.stream().allMatch(predicate)
				|| (!this.inServlet.isEmpty() && this.inServlet.stream().allMatch(predicate));
	}

}
