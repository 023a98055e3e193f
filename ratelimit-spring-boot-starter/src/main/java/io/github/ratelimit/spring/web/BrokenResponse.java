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
 * Settles the costs of a request when another thread could not complete its response.
 * Usually the client has disconnected, and servlet containers sometimes drop such a
 * request without an event for its end: Tomcat 11.0 did in 11 of 60 attempts.
 */
final class BrokenResponse implements CallableProcessingInterceptor, DeferredResultProcessingInterceptor {

	private final RequestState state;

	private final HttpServletResponse response;

	private final PolicyDecisions decisions;

	private BrokenResponse(RequestState state, HttpServletResponse response, PolicyDecisions decisions) {
		this.state = state;
		this.response = response;
		this.decisions = decisions;
	}

	/** Watches the response of a request that another thread may serve later. */
	static void watch(RequestState state, HttpServletRequest request, HttpServletResponse response,
			PolicyDecisions decisions) {
		BrokenResponse watch = new BrokenResponse(state, response, decisions);
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
			this.state.end(this.decisions);
		}
	}

	/** Returns true also if the container has recycled the response. */
	private boolean isCommitted() {
		try {
			return this.response.isCommitted();
		}
		catch (IllegalStateException ex) {
			return true;
		}
	}

}
