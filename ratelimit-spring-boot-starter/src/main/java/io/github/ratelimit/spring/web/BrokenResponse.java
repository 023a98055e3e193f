package io.github.ratelimit.spring.web;

import java.util.concurrent.Callable;

import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * Settles what a request costs when another thread could not write its response to the
 * end. Most often the client has gone away, and then servlet containers sometimes forget
 * the request without an event for its end: Tomcat 11.0 did in 11 of 60 tries.
 */
final class BrokenResponse implements CallableProcessingInterceptor, DeferredResultProcessingInterceptor {

	private final CostSettlement costs;

	private final HttpServletResponse response;

	private final PolicyDecisions decisions;

	private BrokenResponse(CostSettlement costs, HttpServletResponse response, PolicyDecisions decisions) {
		this.costs = costs;
		this.response = response;
		this.decisions = decisions;
	}

	/** Watches the response of a request that another thread may go on to serve. */
	static void watch(CostSettlement costs, HttpServletRequest request, HttpServletResponse response,
			PolicyDecisions decisions) {
		BrokenResponse watch = new BrokenResponse(costs, response, decisions);
		WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
		manager.registerCallableInterceptor(BrokenResponse.class, watch);
		manager.registerDeferredResultInterceptor(BrokenResponse.class, watch);
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object result) {
		endIfBroken(result);
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, DeferredResult<T> deferred, @Nullable Object result) {
		endIfBroken(result);
	}

	private void endIfBroken(@Nullable Object result) {
		if (result instanceof Throwable && isCommitted()) {
			this.costs.end(this.decisions);
		}
	}

	/** A response that the container has taken back already refuses to answer. */
	private boolean isCommitted() {
		try {
			return this.response.isCommitted();
		}
		catch (IllegalStateException ex) {
			return true;
		}
	}

}
