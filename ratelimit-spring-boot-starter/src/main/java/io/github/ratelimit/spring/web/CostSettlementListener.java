package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;

/**
 * Settles the costs of a request at its end, after its last dispatch.
 * <p>
 * Tomcat reports the end once. Jetty reports it after each dispatch, also if other
 * threads continue to serve the request.
 *
 * @since 0.1
 */
public final class CostSettlementListener implements ServletRequestListener {

	private final PolicyDecisions decisions;

	CostSettlementListener(PolicyDecisions decisions) {
		this.decisions = decisions;
	}

	@Override
	public void requestDestroyed(ServletRequestEvent event) {
		ServletRequest request = event.getServletRequest();
		RequestState state = RequestState.find(request);
		if (state != null && !state.awaitEnd(request, this.decisions)) {
			state.end(this.decisions);
		}
	}

}
