package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;

/**
 * Settles what a request costs when it is over: after its last dispatch, however it
 * ended.
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
		CostSettlement costs = CostSettlement.find(event.getServletRequest());
		if (costs != null) {
			costs.end(this.decisions);
		}
	}

}
