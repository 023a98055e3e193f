package io.github.ratelimit.spring.web;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;

/**
 * What has been decided about the paths that a request has reached so far, by whatever
 * dispatch. Each policy is decided once in a request.
 * <p>
 * Not safe for use by several threads: the dispatches of a request follow one another.
 */
final class ReachedPaths {

	private final Set<String> policies = new HashSet<>();

	private List<PathUse> left = List.of();

	private boolean denied;

	/** Returns those of a request. */
	static ReachedPaths of(HttpServletRequest request) {
		return PerRequest.get(request, ReachedPaths.class, ReachedPaths::new);
	}

	/** Returns whether a policy has not been decided, and notes that it is now. */
	boolean isFirstUse(PathUse use) {
		return this.policies.add(use.use().policy().policy().name());
	}

	/**
	 * Leaves uses to the filter that comes after the login in the same dispatch. What
	 * another dispatch has left that never came there is left to this one if it is a
	 * forward, which may come from a filter between both; an error page decides nothing
	 * of that.
	 */
	void leave(List<PathUse> uses, DispatcherType type) {
		this.left = (type == DispatcherType.FORWARD) ? Stream.concat(this.left.stream(), uses.stream()).toList()
				: List.copyOf(uses);
	}

	/** Returns the uses that were left, which are left no longer. */
	List<PathUse> takeLeft() {
		List<PathUse> left = this.left;
		this.left = List.of();
		return left;
	}

	/** Notes that the request is denied: an error page may still tell so. */
	void deny() {
		this.denied = true;
	}

	boolean isDenied() {
		return this.denied;
	}

}
