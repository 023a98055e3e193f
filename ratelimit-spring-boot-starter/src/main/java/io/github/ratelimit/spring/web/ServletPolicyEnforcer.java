package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.PolicyDecisions;
import io.github.ratelimit.spring.PolicyEnforcer;
import io.github.ratelimit.spring.PolicyUse;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.server.PathContainer;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Enforces policies on HTTP requests, and writes into the response how the limits stand.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class ServletPolicyEnforcer implements PolicyEnforcer {

	private final PolicyDecisions decisions;

	private final RequestIdentifiers identifiers = new RequestIdentifiers();

	private final LimitedResponses responses;

	private final RequestCost cost;

	private final List<RateLimitExemption> exemptions;

	/**
	 * Creates an enforcer.
	 * @param decisions what decides
	 * @param responses what tells the client
	 * @param cost what requests cost
	 * @param exemptions which requests are exempt from all limits; may be empty
	 */
	public ServletPolicyEnforcer(PolicyDecisions decisions, LimitedResponses responses, RequestCost cost,
			List<RateLimitExemption> exemptions) {
		this.decisions = decisions;
		this.responses = responses;
		this.cost = cost;
		this.exemptions = List.copyOf(exemptions);
	}

	/**
	 * Decides whether the request that the present thread serves may go on. Outside of a
	 * request each policy is counted for everybody together.
	 * <p>
	 * Where the path of the request has paid to the same policy and identifiers, only
	 * what the cost is higher is paid now; nothing, if it is not.
	 */
	@Override
	public Decision enforce(List<PolicyUse> uses) {
		if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
			return this.decisions.decide(uses.stream().map(PolicyEnforcer::global).toList());
		}
		HttpServletRequest request = attributes.getRequest();
		if (isExempt(request)) {
			return new Decision(true, List.of());
		}
		RequestStatuses statuses = RequestStatuses.of(request);
		List<PolicyCharge> charges = uses.stream().map((use) -> charge(use, request)).toList();
		RequestCosts costs = RequestCosts.of(request);
		HttpServletResponse response = attributes.getResponse();
		Decision decision = this.decisions.decide(
				charges.stream().map(statuses::unpaid).flatMap(Optional::stream).toList(),
				(used) -> costs.add(used, response));
		statuses.add(decision);
		if (decision.allowed()) {
			charges.stream().filter(statuses::hasPaid).forEach(statuses::pay);
		}
		if (response != null) {
			this.responses.writeHeaders(statuses, response);
		}
		return decision;
	}

	/**
	 * Enforces all policies for the path of a request at once, all or nothing.
	 * @return whether the request may go on; if not, the response is written
	 */
	boolean enforce(List<PathPolicy> policies, List<PathContainer> paths, HttpServletRequest request,
			HttpServletResponse response) throws ServletException, IOException {
		List<PolicyUse> uses = new ArrayList<>();
		for (PathPolicy policy : policies) {
			policy.cost(request, paths).ifPresent((cost) -> uses.add(new PolicyUse(policy.policy(), cost)));
		}
		if (uses.isEmpty() || isExempt(request)) {
			return true;
		}
		List<PolicyCharge> charges = uses.stream().map((use) -> charge(use, request)).toList();
		RequestStatuses statuses = RequestStatuses.of(request);
		try {
			RequestCosts costs = RequestCosts.of(request);
			Decision decision = this.decisions.decide(charges, (used) -> costs.add(used, response));
			statuses.add(decision);
			charges.forEach(statuses::pay);
			this.responses.writeHeaders(statuses, response);
			if (!decision.allowed() && this.responses.isToAnswer(request, response)) {
				reject(decision, request, response);
			}
			return decision.allowed();
		}
		catch (StoreException ex) {
			if (this.responses.isToAnswer(request, response)) {
				rejectWithoutDecision(request, response);
			}
			return false;
		}
	}

	/** Answers a request of which a part was denied. */
	void reject(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.responses.reject(decision, request, response);
	}

	/** Answers a request of which a part is denied because the store failed. */
	void rejectWithoutDecision(HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.responses.rejectWithoutDecision(request, response);
	}

	/** Returns the response for what comes behind the limits of a path. */
	HttpServletResponse responseForChain(HttpServletRequest request, HttpServletResponse response) {
		return this.responses.forChain(request, response);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.decisions.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		this.identifiers.resolver(identifier);
	}

	private boolean isExempt(HttpServletRequest request) {
		return this.exemptions.stream().anyMatch((exemption) -> exemption.exempts(request));
	}

	private PolicyCharge charge(PolicyUse use, HttpServletRequest request) {
		IdentifiedPolicy policy = use.policy();
		long cost = this.cost.cost(request, policy.policy().name(), use.cost());
		if (cost < 0) {
			throw new IllegalStateException(
					"Invalid cost (%d): the RequestCost of the policy '%s' must not be negative.".formatted(cost,
							policy.policy().name()));
		}
		return new PolicyCharge(policy,
				new Charge(policy.policy(), this.identifiers.find(policy.identifiers(), request), cost));
	}

}
