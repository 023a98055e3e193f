package io.github.ratelimit.spring.web;

import java.io.IOException;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Answers requests in which a filter, or a servlet that is not Spring MVC's, has called a
 * method with {@code @RateLimited} that was denied: as {@link RateLimitExceededResolver}
 * does where handlers call it. Such calls are counted by their request, whether Spring
 * knows it by then or not.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class RateLimitExceededFilter implements Filter {

	private final ServletPolicyEnforcer enforcer;

	/**
	 * Creates a filter.
	 * @param enforcer what answers denied requests
	 */
	public RateLimitExceededFilter(ServletPolicyEnforcer enforcer) {
		this.enforcer = enforcer;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (!(request instanceof HttpServletRequest httpRequest)
				|| !(response instanceof HttpServletResponse httpResponse)) {
			chain.doFilter(request, response);
			return;
		}
		try {
			CurrentRequest.doFilter(httpRequest, httpResponse, chain);
			this.enforcer.awaitEnd(httpRequest);
		}
		catch (IOException | ServletException | RuntimeException ex) {
			Answer answer = Answer.to(ex);
			if (answer == null || response.isCommitted()) {
				CostSettlement costs = CostSettlement.find(request);
				if (costs != null) {
					costs.fail();
				}
				throw ex;
			}
			this.enforcer.answer(answer, httpRequest, httpResponse);
		}
	}

}
