package io.github.ratelimit.spring.test;

import io.github.ratelimit.spring.web.CostSettlementListener;
import jakarta.servlet.ServletRequestEvent;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.web.servlet.ServletListenerRegistrationBean;
import org.springframework.boot.webmvc.test.autoconfigure.MockMvcBuilderCustomizer;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.setup.ConfigurableMockMvcBuilder;

/**
 * Settles the cost of a request when it is complete. A Servlet container notifies a
 * listener for that, but MockMvc does not.
 */
class MockMvcSettlement implements MockMvcBuilderCustomizer {

	private final ObjectProvider<ServletListenerRegistrationBean<CostSettlementListener>> listener;

	MockMvcSettlement(ObjectProvider<ServletListenerRegistrationBean<CostSettlementListener>> listener) {
		this.listener = listener;
	}

	@Override
	public void customize(ConfigurableMockMvcBuilder<?> builder) {
		builder.alwaysDo(this::settle);
	}

	private void settle(MvcResult result) {
		if (result.getRequest().isAsyncStarted()) {
			return;
		}
		ServletRequestEvent event = new ServletRequestEvent(result.getRequest().getServletContext(),
				result.getRequest());
		this.listener.forEach((bean) -> {
			CostSettlementListener settlement = bean.getListener();
			if (settlement != null) {
				settlement.requestDestroyed(event);
			}
		});
	}

}
