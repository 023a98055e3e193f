package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * What the limiter keeps of one request, in one of its attributes: the limits that were
 * checked, what is to be settled at its end, and which policies of paths were decided, by
 * any dispatch. Each of these policies is decided once in a request.
 * <p>
 * Threads that serve one request in parallel get the same state. What concerns paths is
 * for one thread at a time: the dispatches of a request follow one another.
 */
final class RequestState {

	private static final String ATTRIBUTE = RequestState.class.getName();

	private final CostSettlement costs = new CostSettlement();

	private final RequestStatuses statuses = new RequestStatuses();

	/** Names of the policies that were decided. */
	private final List<String> policies = new ArrayList<>(2);

	private List<PathUse> left = List.of();

	private boolean denied;

	private boolean watched;

	private RequestState() {
	}

	/** Returns the state of a request, and creates it if there is none. */
	static RequestState of(ServletRequest request) {
		RequestState found = find(request);
		if (found != null) {
			return found;
		}
		synchronized (unwrap(request)) {
			found = find(request);
			if (found != null) {
				return found;
			}
			RequestState created = new RequestState();
			request.setAttribute(ATTRIBUTE, created);
			return created;
		}
	}

	/** Returns the state of a request; {@code null} if there is none. */
	static @Nullable RequestState find(ServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof RequestState state) ? state : null;
	}

	/** The request of the container, which is the same however it is wrapped. */
	private static ServletRequest unwrap(ServletRequest request) {
		ServletRequest innermost = request;
		while (innermost instanceof ServletRequestWrapper wrapper) {
			innermost = wrapper.getRequest();
		}
		return innermost;
	}

	CostSettlement costs() {
		return this.costs;
	}

	RequestStatuses statuses() {
		return this.statuses;
	}

	/** Returns whether a policy has not been decided, and notes that it is now. */
	boolean isFirstUse(String policy) {
		return !this.policies.contains(policy) && this.policies.add(policy);
	}

	/**
	 * Leaves uses to the filter that comes after the login in the same dispatch. What
	 * another dispatch has left that never came there is left to this one if it is a
	 * forward, which may come from a filter between both; an error page decides nothing
	 * of that.
	 */
	void leave(List<PathUse> uses, DispatcherType type) {
		this.left = (type == DispatcherType.FORWARD && !this.left.isEmpty())
				? Stream.concat(this.left.stream(), uses.stream()).toList() : uses;
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

	/** Returns whether this is called for the first time. */
	synchronized boolean watch() {
		boolean first = !this.watched;
		this.watched = true;
		return first;
	}

}
