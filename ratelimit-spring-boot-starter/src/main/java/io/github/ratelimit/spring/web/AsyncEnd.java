package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;

/**
 * The end of a request that other threads go on to serve, when its costs are settled.
 */
final class AsyncEnd implements AsyncListener {

	private final CostSettlement costs;

	private final PolicyDecisions decisions;

	AsyncEnd(CostSettlement costs, PolicyDecisions decisions) {
		this.costs = costs;
		this.decisions = decisions;
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
