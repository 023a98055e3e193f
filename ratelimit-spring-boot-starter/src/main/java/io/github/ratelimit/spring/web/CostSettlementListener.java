package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;

/**
 * Settles what a request costs when it is over: after its last dispatch, however it
 * ended.
 * <p>
 * Tomcat tells of that once. Jetty does so after each dispatch, also of a request that
 * other threads go on to serve.
 *
 * @since 0.1
 */
public final class CostSettlementListener implements ServletRequestListener {

	private final PolicyDecisions decisions;

	/**
	 * Creates a listener.
	 * @param decisions what settles costs
	 */
	public CostSettlementListener(PolicyDecisions decisions) {
		this.decisions = decisions;
	}

	@Override
	public void requestDestroyed(ServletRequestEvent event) {
		ServletRequest request = event.getServletRequest();
		CostSettlement costs = CostSettlement.find(request);
		if (costs == null) {
			return;
		}
		if (isServedLater(request)) {
			request.getAsyncContext().addListener(new Completion(costs));
		}
		else {
			costs.end(this.decisions);
		}
	}

	/** Tomcat refuses to tell when the client has gone away, which is the end. */
	private static boolean isServedLater(ServletRequest request) {
		try {
			return request.isAsyncStarted();
		}
		catch (IllegalStateException ex) {
			return false;
		}
	}

	/** The end of a request that no thread of the container serves. */
	private final class Completion implements AsyncListener {

		private final CostSettlement costs;

		Completion(CostSettlement costs) {
			this.costs = costs;
		}

		@Override
		public void onComplete(AsyncEvent event) {
			this.costs.end(CostSettlementListener.this.decisions);
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
