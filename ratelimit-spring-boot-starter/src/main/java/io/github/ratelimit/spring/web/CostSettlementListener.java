package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.policy.PolicyDecisions;
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
		if (costs != null && !costs.awaitEnd(request, this.decisions)) {
			costs.end(this.decisions);
		}
	}

}
