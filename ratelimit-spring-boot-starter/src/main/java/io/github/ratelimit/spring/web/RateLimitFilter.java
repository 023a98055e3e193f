package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.Rejection.Reason;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.web.answer.Answer;
import io.github.ratelimit.spring.web.answer.ExposedHeaders;
import io.github.ratelimit.spring.web.path.LimitedPaths;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.cors.CorsUtils;

/**
 * Enforces the policies of the paths that a request reaches, by any dispatch; each policy
 * once in a request. What a CORS preflight has used is refunded as soon as CORS code has
 * allowed it.
 * <p>
 * There are two of these filters, before and after the login. The first decides what
 * needs no user, and defers the rest to the second.
 */
final class RateLimitFilter extends HttpFilter {

	private final RequestCharges charges;

	private final Decider decider;

	private final @Nullable LimitedPaths paths;

	private final LimitedResponses responses;

	/**
	 * Creates a filter.
	 * @param paths the limited paths; {@code null} for the filter after the login
	 */
	RateLimitFilter(RequestCharges charges, Decider decider, @Nullable LimitedPaths paths, LimitedResponses responses) {
		this.charges = charges;
		this.decider = decider;
		this.paths = paths;
		this.responses = responses;
	}

	@Override
	protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (isAllowed(request, response)) {
			chain.doFilter(request, ExposedHeaders.concern(request) && !RequestState.of(request).statuses().isEmpty()
					? new ExposedHeaders(this.responses.headers(), response) : response);
			if (CorsUtils.isPreFlightRequest(request) && this.responses.cors().isAnswered(request, response)) {
				// Its client may send the next one as soon as it has the response.
				RequestState state = RequestState.of(request);
				state.costs().refund();
				state.end(this.decider);
			}
		}
	}

	/**
	 * Decides whether a request may proceed; if not, writes the response. An included
	 * resource has none of its own: its denial is thrown as that of a method.
	 */
	private boolean isAllowed(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		List<PolicyUse> uses;
		try {
			uses = (this.paths != null) ? this.paths.uses(request) : List.of();
		}
		catch (IllegalArgumentException ex) {
			// A malformed escape in a path parameter, which some containers accept, but
			// not Spring MVC.
			response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
			return false;
		}
		RequestState state = RequestState.of(request);
		if (state.isDenied()) {
			return true;
		}
		boolean included = request.getDispatcherType() == DispatcherType.INCLUDE;
		Answer answer;
		try {
			Decision decision = decide(uses, state, request, response);
			if (decision.allowed()) {
				return true;
			}
			if (included) {
				throw new RateLimitExceededException(decision);
			}
			answer = new Answer(Reason.DENIED, decision);
		}
		catch (CallerDeniedException | StoreException ex) {
			answer = Answer.to(ex);
			if (answer == null || included) {
				throw ex;
			}
		}
		state.deny();
		this.responses.answer(answer, request, response);
		return false;
	}

	/** Decides all or nothing. */
	private Decision decide(List<PolicyUse> uses, RequestState state, HttpServletRequest request,
			HttpServletResponse response) {
		List<PolicyCharge> charges = (this.paths != null) ? this.charges.beforeLogin(uses, state, request)
				: this.charges.afterLogin(state, request);
		if (charges.isEmpty()) {
			return Decided.UNLIMITED.decision();
		}
		state.watch(request, response, this.decider);
		Decided decided = this.decider.decideProvisionally(charges);
		state.use(decided, response);
		state.run(decided);
		state.statuses().write(this.responses.headers(), response);
		return decided.decision();
	}

}
