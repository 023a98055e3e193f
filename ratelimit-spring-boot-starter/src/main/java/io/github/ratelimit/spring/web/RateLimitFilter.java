package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.cors.CorsUtils;

/**
 * Enforces the policies of the paths that a request reaches, by any dispatch, before they
 * are served; each policy once in a request. CORS preflight requests that CORS code
 * answers are not limited. A request whose path cannot be decoded is answered with 400.
 * <p>
 * There are two of these filters, before and after the login. The first decides what
 * needs no user, and defers the rest to the second.
 */
final class RateLimitFilter implements Filter {

	private final ServletPolicyEnforcer enforcer;

	private final LimitedPaths paths;

	private final boolean userKnown;

	private final LimitedResponses responses;

	private final Preflights preflights;

	/**
	 * Creates a filter.
	 * @param enforcer enforces the policies
	 * @param paths the limited paths
	 * @param userKnown whether this is the filter after the login
	 * @param responses answers rejected requests
	 * @param preflights which CORS preflight requests are not limited
	 */
	RateLimitFilter(ServletPolicyEnforcer enforcer, LimitedPaths paths, boolean userKnown, LimitedResponses responses,
			Preflights preflights) {
		this.enforcer = enforcer;
		this.paths = paths;
		this.userKnown = userKnown;
		this.responses = responses;
		this.preflights = preflights;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request instanceof HttpServletRequest httpRequest && response instanceof HttpServletResponse httpResponse
				&& !(CorsUtils.isPreFlightRequest(httpRequest) && this.preflights.areFree(httpRequest))) {
			doFilter(httpRequest, httpResponse, chain);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		List<PolicyUse> uses;
		try {
			uses = this.userKnown ? List.of() : this.paths.uses(request);
		}
		catch (IllegalArgumentException ex) {
			// A malformed escape in a path parameter, which some containers accept. No
			// policy could be found; Spring MVC fails on it, and so does its error page.
			response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
			return;
		}
		if (isAllowed(uses, request, response)) {
			chain.doFilter(request, this.responses.forChain(request, response));
			if (CorsUtils.isPreFlightRequest(request) && this.preflights.isAnswered(request, response)) {
				this.enforcer.refund(RequestState.of(request));
			}
		}
	}

	/**
	 * Decides whether a request may proceed; if not, writes the response. An included
	 * resource has no response of its own: if it is denied, this throws the exception
	 * that a denied method would throw, and the request may go on elsewhere.
	 */
	private boolean isAllowed(List<PolicyUse> uses, HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		RequestState state = RequestState.of(request);
		if (state.isDenied()) {
			return true;
		}
		try {
			Decision decision = this.userKnown ? this.enforcer.enforceAfterLogin(state, request, response)
					: this.enforcer.enforceBeforeLogin(uses, state, request, response);
			if (decision.allowed()) {
				return true;
			}
			if (request.getDispatcherType() == DispatcherType.INCLUDE) {
				throw new RateLimitExceededException(decision);
			}
			state.deny();
			this.responses.answer(Answer.denied(decision), request, response);
		}
		catch (CallerDeniedException | StoreException ex) {
			Answer answer = Answer.to(ex);
			if (answer == null || request.getDispatcherType() == DispatcherType.INCLUDE) {
				throw ex;
			}
			state.deny();
			this.responses.answer(answer, request, response);
		}
		return false;
	}

}
