package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;

/**
 * The end of a request that other threads go on to serve, when its costs are settled.
 */
final class AsyncEnd implements AsyncListener {

	private final CostSettlement costs;

	private final PolicyDecisions decisions;

	private AsyncEnd(CostSettlement costs, PolicyDecisions decisions) {
		this.costs = costs;
		this.decisions = decisions;
	}

	/**
	 * Settles costs at the end of a request if other threads go on to serve it.
	 * @return whether they do
	 */
	static boolean await(ServletRequest request, CostSettlement costs, PolicyDecisions decisions) {
		try {
			if (!request.isAsyncStarted()) {
				return false;
			}
			request.getAsyncContext().addListener(new AsyncEnd(costs, decisions));
			return true;
		}
		catch (IllegalStateException ex) {
			// Tomcat refuses to tell when the client has gone away, which is the end.
			return false;
		}
	}

	@Override
	public void onComplete(AsyncEvent event) {
		this.costs.end(this.decisions);
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
