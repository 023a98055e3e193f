package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.PolicyDecisions;
import io.github.ratelimit.spring.PolicyEnforcer;
import io.github.ratelimit.spring.PolicyUse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import tools.jackson.databind.json.JsonMapper;

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

	private final StatusHeaders headers;

	private final Rejection rejection;

	private final UserPlans plans;

	/**
	 * Creates an enforcer.
	 * @param decisions what decides
	 * @param styles which headers to write; may be empty
	 * @param jsonMapper what writes the problem body of denied requests
	 */
	public ServletPolicyEnforcer(PolicyDecisions decisions, Set<HeaderStyle> styles, JsonMapper jsonMapper) {
		this(decisions, styles, jsonMapper, UserPlans.NONE);
	}

	/**
	 * Creates an enforcer for users with plans.
	 * @param decisions what decides
	 * @param styles which headers to write; may be empty
	 * @param jsonMapper what writes the problem body of denied requests
	 * @param plans the plans of users
	 */
	public ServletPolicyEnforcer(PolicyDecisions decisions, Set<HeaderStyle> styles, JsonMapper jsonMapper,
			UserPlans plans) {
		this.decisions = decisions;
		this.headers = new StatusHeaders(styles);
		this.rejection = new Rejection(jsonMapper);
		this.plans = plans;
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
			this.headers.write(statuses, response);
		}
		return decision;
	}

	/**
	 * Enforces all policies for the path of a request at once, all or nothing.
	 * @return whether the request may go on; if not, the response is written
	 */
	boolean enforce(List<PathPolicy> policies, List<PathContainer> paths, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		List<PolicyCharge> charges = new ArrayList<>();
		for (PathPolicy policy : policies) {
			policy.cost(request, paths)
				.ifPresent((cost) -> charges.add(charge(new PolicyUse(policy.policy(), cost), request)));
		}
		if (charges.isEmpty()) {
			return true;
		}
		RequestCosts costs = RequestCosts.of(request);
		Decision decision = this.decisions.decide(charges, (used) -> costs.add(used, response));
		RequestStatuses statuses = RequestStatuses.of(request);
		statuses.add(decision);
		charges.forEach(statuses::pay);
		this.headers.write(statuses, response);
		if (!decision.allowed()) {
			this.rejection.write(decision, response);
		}
		return decision.allowed();
	}

	/** Answers a request of which a part was denied. */
	void reject(Decision decision, HttpServletResponse response) throws IOException {
		this.rejection.write(decision, response);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.decisions.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		this.identifiers.resolver(identifier);
	}

	private PolicyCharge charge(PolicyUse use, HttpServletRequest request) {
		IdentifiedPolicy policy = use.policy();
		return new PolicyCharge(policy,
				new Charge(policy.policy(), this.identifiers.find(policy.identifiers(), request), use.cost()),
				policy.plans().isEmpty() ? null : this.plans.find(request));
	}

}
