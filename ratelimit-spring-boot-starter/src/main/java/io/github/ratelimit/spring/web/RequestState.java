package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.spring.policy.PolicyCharge;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * What the limiter keeps of one request, in an attribute of the request: the limits that
 * were checked, the charges to be settled at its end, and which policies of paths were
 * decided. Each of these policies is decided once in a request, whatever its dispatches.
 * <p>
 * Threads that serve one request in parallel get the same state. Only the methods for
 * paths are not safe for use by several threads: the dispatches of a request follow one
 * another.
 */
final class RequestState {

	private static final String ATTRIBUTE = RequestState.class.getName();

	/** With more charges than these, they are added up. */
	private static final int MOST_USED = 64;

	private final RequestStatuses statuses = new RequestStatuses();

	/** The charges, unless there are costs, which then have them. */
	private final List<PolicyCharge> used = new ArrayList<>(2);

	/** The request among those that run at the same time, until it ends. */
	private final List<PolicyCharge> calls = new ArrayList<>(0);

	private @Nullable CostSettlement costs;

	private @Nullable HttpServletResponse response;

	/** Names of the policies of paths that were decided. */
	private final List<String> policies = new ArrayList<>(2);

	private List<DeferredUse> deferred = List.of();

	private List<DeferredUse> withoutUser = List.of();

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

	/** Returns the request of the container, inside of all wrappers. */
	private static ServletRequest unwrap(ServletRequest request) {
		ServletRequest innermost = request;
		while (innermost instanceof ServletRequestWrapper wrapper) {
			innermost = wrapper.getRequest();
		}
		return innermost;
	}

	RequestStatuses statuses() {
		return this.statuses;
	}

	/** Adds a charge that has been used. */
	synchronized void use(PolicyCharge charge, @Nullable HttpServletResponse response) {
		if (charge.call() != 0) {
			this.calls.add(charge);
			return;
		}
		this.response = (this.response != null) ? this.response : response;
		if (this.costs == null && this.used.size() < MOST_USED) {
			this.used.add(charge);
		}
		else {
			costs().add(charge, this.response);
		}
	}

	/**
	 * Returns the costs of the request, which are created when they are first needed:
	 * most requests keep the cost that they were charged.
	 */
	synchronized CostSettlement costs() {
		CostSettlement costs = this.costs;
		if (costs == null) {
			costs = new CostSettlement();
			this.costs = costs;
			for (PolicyCharge charge : this.used) {
				costs.add(charge, this.response);
			}
			this.used.clear();
		}
		return costs;
	}

	/** Refunds, at the end of the request, all that it has used so far. */
	synchronized void refund() {
		if (this.costs != null || !this.used.isEmpty()) {
			costs().refund();
		}
	}

	/**
	 * Removes the charges that are counted separately until the login, which the request
	 * has passed. The caller refunds them.
	 */
	synchronized List<PolicyCharge> takeBeforeLogin() {
		boolean none = this.costs == null && this.used.stream().noneMatch(PolicyCharge::beforeLogin);
		return none ? List.of() : costs().takeBeforeLogin();
	}

	/**
	 * Notes that the request has failed with an exception. A container may report its end
	 * before it sets the status for that.
	 */
	synchronized void fail() {
		costs().fail();
	}

	/**
	 * Settles costs at the end of the request if other threads continue to serve it.
	 * @return whether they do
	 */
	boolean awaitEnd(ServletRequest request, PolicyDecisions decisions) {
		try {
			if (!request.isAsyncStarted()) {
				return false;
			}
			request.getAsyncContext().addListener(new AsyncEnd(this, decisions));
			return true;
		}
		catch (IllegalStateException ex) {
			// Tomcat throws this when the client has disconnected, which ends the
			// request.
			return false;
		}
	}

	/**
	 * Ends the request, so that it no longer counts among those that run, and settles
	 * what it has used. Has no effect the second time.
	 */
	void end(PolicyDecisions decisions) {
		List<PolicyCharge> calls = takeCalls();
		if (!calls.isEmpty()) {
			decisions.end(calls);
		}
		endCosts().forEach((settlement) -> decisions.settle(settlement.used(), settlement.cost()));
	}

	private synchronized List<PolicyCharge> takeCalls() {
		if (this.calls.isEmpty()) {
			return List.of();
		}
		List<PolicyCharge> taken = List.copyOf(this.calls);
		this.calls.clear();
		return taken;
	}

	private synchronized List<CostSettlement.Settlement> endCosts() {
		if (this.costs != null || isProvisional()) {
			return costs().end();
		}
		this.used.clear();
		return List.of();
	}

	private boolean isProvisional() {
		for (PolicyCharge charge : this.used) {
			if (charge.isProvisional()) {
				return true;
			}
		}
		return false;
	}

	/** Returns true if the policy has not been decided, and marks it as decided. */
	boolean isFirstUse(String policy) {
		return !this.policies.contains(policy) && this.policies.add(policy);
	}

	/**
	 * Defers uses to the filter after the login in the same dispatch. Uses that another
	 * dispatch has deferred and that never came there are kept if this dispatch is a
	 * forward, which a filter between both may have started; an error page drops them.
	 */
	void defer(List<DeferredUse> uses, DispatcherType type) {
		this.deferred = (type == DispatcherType.FORWARD && !this.deferred.isEmpty())
				? Stream.concat(this.deferred.stream(), uses.stream()).toList() : uses;
	}

	/** Returns the deferred uses, and removes them. */
	List<DeferredUse> takeDeferred() {
		List<DeferredUse> deferred = this.deferred;
		this.deferred = List.of();
		return deferred;
	}

	/** Notes uses that were decided after the login, but without a user. */
	void noteWithoutUser(List<DeferredUse> uses) {
		this.withoutUser = uses;
	}

	/** Returns the uses that were decided without a user, and removes them. */
	List<DeferredUse> takeWithoutUser() {
		List<DeferredUse> uses = this.withoutUser;
		this.withoutUser = List.of();
		return uses;
	}

	/** Notes that the request is denied: its error page must not be. */
	void deny() {
		this.denied = true;
	}

	boolean isDenied() {
		return this.denied;
	}

	/** Returns true when called for the first time. */
	synchronized boolean watch() {
		boolean first = !this.watched;
		this.watched = true;
		return first;
	}

	/**
	 * A use of a policy that is decided after the login, wholly or in part.
	 *
	 * @param use the use of the policy as configured
	 * @param whole whether all of its identifiers are, because the policy had plans
	 * @param counted whether some of its identifiers were counted before the login
	 */
	record DeferredUse(PolicyUse use, boolean whole, boolean counted) {

	}

	/**
	 * The end of a request that other threads serve.
	 */
	private record AsyncEnd(RequestState state, PolicyDecisions decisions) implements AsyncListener {

		@Override
		public void onComplete(AsyncEvent event) {
			this.state.end(this.decisions);
		}

		@Override
		public void onTimeout(AsyncEvent event) {
		}

		@Override
		public void onError(AsyncEvent event) {
		}

		@Override
		public void onStartAsync(AsyncEvent event) {
			// The dispatch that has started it is not over.
		}

	}

}
