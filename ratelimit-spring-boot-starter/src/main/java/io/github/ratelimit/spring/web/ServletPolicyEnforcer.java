package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Enforces policies on HTTP requests, and writes into the response how the limits stand.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class ServletPolicyEnforcer implements PolicyEnforcer {

	/** Of whoever is never limited. */
	private static final Decision UNLIMITED = new Decision(true, List.of());

	private final PolicyDecisions decisions;

	private final PolicyEnforcer outsideOfRequests;

	private final RequestIdentifiers identifiers;

	private final AccessLists lists;

	private final LimitedResponses responses;

	private final RequestCost cost;

	private final List<RateLimitExemption> exemptions;

	private final UserPlans plans;

	private final boolean login;

	private final RequestConditions conditions;

	/**
	 * Creates an enforcer.
	 * @param decisions what decides
	 * @param identifiers finds out who makes requests
	 * @param lists who is never limited, and who is always denied
	 * @param plans the plans of users
	 * @param conditions to which requests policies apply
	 * @param responses what tells the client
	 * @param cost what requests cost
	 * @param exemptions which requests are exempt from all limits; may be empty
	 * @param login whether requests may fail between the filters, because users log in
	 * there; if not, policies with plans are decided after it only
	 */
	public ServletPolicyEnforcer(PolicyDecisions decisions, RequestIdentifiers identifiers, AccessLists lists,
			UserPlans plans, RequestConditions conditions, LimitedResponses responses, RequestCost cost,
			List<RateLimitExemption> exemptions, boolean login) {
		this.decisions = decisions;
		this.outsideOfRequests = PolicyEnforcer.withoutRequests(decisions);
		this.identifiers = identifiers;
		this.lists = lists;
		this.plans = plans;
		this.conditions = conditions;
		this.responses = responses;
		this.cost = cost;
		this.exemptions = List.copyOf(exemptions);
		this.login = login;
	}

	/**
	 * Decides whether the request that the present thread serves may go on, whatever its
	 * path has been charged. Outside of a request it has the identifiers of
	 * {@link PolicyEnforcer#withoutRequests}.
	 */
	@Override
	public Decision enforce(List<PolicyUse> uses) {
		ServletRequestAttributes attributes = CurrentRequest.find();
		if (attributes == null) {
			return this.outsideOfRequests.enforce(uses);
		}
		HttpServletRequest request = attributes.getRequest();
		if (isUnlimited(request, true)) {
			return UNLIMITED;
		}
		Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
		List<String> patterns = (pattern != null) ? List.of(pattern.toString()) : List.of();
		List<PolicyCharge> charges = new ArrayList<>(uses.size());
		for (PolicyUse configured : uses) {
			if (this.conditions.apply(configured.policy(), request)) {
				PolicyUse use = current(configured, patterns, request);
				add(use, () -> this.identifiers.find(use, patterns, request), request, charges);
			}
		}
		return decide(charges, RequestState.of(request), request, attributes.getResponse());
	}

	private Decision decide(List<PolicyCharge> charges, RequestState state, HttpServletRequest request,
			@Nullable HttpServletResponse response) {
		if (response != null && state.watch()) {
			BrokenResponse.watch(state.costs(), request, response, this.decisions);
		}
		Decision decision = this.decisions.decide(charges, (used) -> state.costs().add(used, response));
		state.statuses().add(decision, charges);
		if (response != null) {
			this.responses.writeHeaders(state.statuses(), response);
		}
		return decision;
	}

	/**
	 * Enforces all policies for the path that a request has reached at once, all or
	 * nothing. What is included cannot be answered alone: if it is denied, the request
	 * is, by the exception that a denied method would throw.
	 * @param userKnown whether users have logged in by now
	 * @return whether the request may go on; if not, the response is written
	 */
	boolean enforce(List<PathPolicy> policies, RequestPaths paths, boolean userKnown, HttpServletRequest request,
			HttpServletResponse response) throws ServletException, IOException {
		RequestState state = RequestState.of(request);
		if (state.isDenied()) {
			return true;
		}
		try {
			Decision decision = userKnown ? decideAfterLogin(state, request, response)
					: decideBeforeLogin(policies, paths, state, request, response);
			if (decision.allowed()) {
				return true;
			}
			state.deny();
			if (request.getDispatcherType() == DispatcherType.INCLUDE) {
				throw new RateLimitExceededException(decision);
			}
			answer(Answer.denied(decision), request, response);
		}
		catch (CallerDeniedException | StoreException ex) {
			state.deny();
			Answer answer = Answer.to(ex);
			if (answer == null || request.getDispatcherType() == DispatcherType.INCLUDE) {
				throw ex;
			}
			answer(answer, request, response);
		}
		return false;
	}

	/**
	 * Charges what is known by now, and leaves the rest to the filter after the login.
	 */
	private Decision decideBeforeLogin(List<PathPolicy> policies, RequestPaths paths, RequestState state,
			HttpServletRequest request, HttpServletResponse response) {
		if (policies.isEmpty() && !needsFilter(false)) {
			return UNLIMITED;
		}
		List<PathUse> uses = uses(policies, paths, state, request);
		// That may be another matter after the login.
		boolean unlimited = (!uses.isEmpty() || needsFilter(false)) && isUnlimited(request, false);
		List<PolicyCharge> charges = new ArrayList<>(uses.size());
		List<PathUse> left = List.of();
		for (PathUse each : uses) {
			PolicyUse use = each.use();
			boolean apart = each.needsPlan();
			boolean counted = !unlimited && (!apart || mayFailToLogIn(request)) && add(use,
					() -> this.identifiers.findBeforeLogin(use, each.patterns(), request), request, charges);
			if (counted && apart) {
				charges.add(charges.remove(charges.size() - 1).countedBeforeLogin());
			}
			if (needsUser(use.policy())) {
				left = left.isEmpty() ? new ArrayList<>(2) : left;
				left.add(each.withCounted(counted && !apart));
			}
		}
		state.leave(left, request.getDispatcherType());
		return charges.isEmpty() ? UNLIMITED : decide(charges, state, request, response);
	}

	/**
	 * Returns what a request uses of the policies of its path that were not decided. All
	 * of them count as decided from now on, even if one of them fails: what an error page
	 * reaches again is not charged.
	 */
	private List<PathUse> uses(List<PathPolicy> policies, RequestPaths paths, RequestState state,
			HttpServletRequest request) {
		List<PathUse> uses = new ArrayList<>(2);
		for (PathPolicy policy : policies) {
			List<Route> routes = policy.routes(request, paths);
			if (!routes.isEmpty() && this.conditions.apply(policy.policy(), request)
					&& state.isFirstUse(policy.policy().policy().name())) {
				PolicyUse configured = policy.use(routes);
				List<String> patterns = routes.stream().map((route) -> route.pattern().getPatternString()).toList();
				uses.add(new PathUse(configured, current(configured, patterns, request), patterns, false));
			}
		}
		return uses;
	}

	/**
	 * Charges what was left by the filter before the login. There nobody has a plan, so
	 * that policies with plans are charged here.
	 */
	private Decision decideAfterLogin(RequestState state, HttpServletRequest request, HttpServletResponse response) {
		giveBackBeforeLogin(state, request, response);
		List<PathUse> left = state.takeLeft();
		if ((left.isEmpty() && !needsFilter(true)) || isUnlimited(request, true)) {
			return UNLIMITED;
		}
		List<PolicyCharge> charges = new ArrayList<>(left.size());
		for (PathUse each : left) {
			PolicyUse use = current(each.configured(), each.patterns(), request);
			add(use, () -> each.needsPlan() ? this.identifiers.find(use, each.patterns(), request)
					: this.identifiers.findAfterLogin(use, each.counted(), each.patterns(), request), request, charges);
		}
		return charges.isEmpty() ? UNLIMITED : decide(charges, state, request, response);
	}

	/** Only what the client has sent comes to the login, and to the filter after it. */
	private boolean mayFailToLogIn(HttpServletRequest request) {
		return this.login && request.getDispatcherType() == DispatcherType.REQUEST;
	}

	/**
	 * Gives back what policies with plans have counted before the login, in one call of
	 * the store, and at once, so that nobody is denied for longer than a login takes.
	 */
	private void giveBackBeforeLogin(RequestState state, HttpServletRequest request, HttpServletResponse response) {
		List<PolicyCharge> used = mayFailToLogIn(request) ? state.costs().takeBeforeLogin() : List.of();
		if (!used.isEmpty()) {
			this.decisions.giveBack(used);
			used.forEach((charge) -> state.statuses().forget(charge.charge().policy().name()));
			this.responses.writeHeadersAgain(state.statuses(), response);
		}
	}

	/** Answers a request that does not come to the handlers of the application. */
	void answer(Answer answer, HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		if (this.responses.isToAnswer(request, response)) {
			reject(answer, request, response);
		}
	}

	/** Answers a request of which a part was denied. */
	void reject(Answer answer, HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.responses.reject(answer, request, response);
	}

	/** Returns the response for exception handlers of the application. */
	HttpServletResponse responseForExceptionHandlers(Answer answer, HttpServletResponse response) {
		return this.responses.forExceptionHandlers(answer, response);
	}

	/** Returns the response for what comes behind the limits of a path. */
	HttpServletResponse responseForChain(HttpServletRequest request, HttpServletResponse response) {
		return this.responses.forChain(request, response);
	}

	/**
	 * Returns whether a policy can be enforced, or a part of it, only once the user has
	 * logged in.
	 * @param policy a policy with known identifiers
	 * @return whether one of its identifiers needs the user, or it has plans
	 */
	public boolean needsUser(IdentifiedPolicy policy) {
		return !policy.plans().isEmpty() || this.identifiers.needsUser(policy);
	}

	/**
	 * Returns whether a policy counts requests before the user has logged in.
	 * @param policy a policy with known identifiers
	 * @return whether one of its identifiers is known by then, and it has no plans, or
	 * there is a login that may fail
	 */
	public boolean countsBeforeLogin(IdentifiedPolicy policy) {
		return (this.login || policy.plans().isEmpty())
				&& !policy.identifiers().stream().allMatch(this.identifiers::needsUser);
	}

	/**
	 * Returns whether a filter has to look for clients that are always denied or never
	 * limited, though it has no policies.
	 * @param userKnown whether the filter comes after users have logged in
	 * @return whether it is needed
	 */
	public boolean needsFilter(boolean userKnown) {
		return this.lists.denyAnybody(userKnown) || (userKnown && this.lists.allowUsers());
	}

	@Override
	public void requireSupported(Policy policy) {
		this.decisions.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		this.identifiers.requireKnown(identifier);
	}

	private boolean isUnlimited(HttpServletRequest request, boolean userKnown) {
		AccessLists.Access access = this.lists.access(request, userKnown);
		if (access == AccessLists.Access.DENIED) {
			throw new CallerDeniedException("The caller is on the list of those that are denied");
		}
		if (access == AccessLists.Access.LIMITED && !isExempt(request)) {
			return false;
		}
		// Whoever is known only after login has been counted before it.
		giveBack(request);
		return true;
	}

	private boolean isExempt(HttpServletRequest request) {
		for (RateLimitExemption exemption : this.exemptions) {
			if (exemption.exempts(request)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Settles what a request costs at its end if other threads go on to serve it. Tomcat
	 * tells of an end that comes at once to those only who wait for it by now.
	 */
	void awaitEnd(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.find(request);
		if (costs != null) {
			costs.awaitEnd(request, this.decisions);
		}
	}

	/** Gives back, at its end, what a request has used so far. */
	void giveBack(HttpServletRequest request) {
		RequestState state = RequestState.find(request);
		if (state != null) {
			state.costs().giveBack();
		}
	}

	private PolicyUse current(PolicyUse configured, List<String> patterns, HttpServletRequest request) {
		return this.decisions.current(configured, (name) -> this.identifiers.find(name, patterns, request));
	}

	/**
	 * Adds what a use is charged, if the request has an identifier. What costs nothing is
	 * not denied for what it lacks.
	 * @return whether a charge was added
	 */
	private boolean add(PolicyUse use, Supplier<List<Identifier>> identifiers, HttpServletRequest request,
			List<PolicyCharge> charges) {
		IdentifiedPolicy policy = use.policy();
		List<Identifier> found;
		try {
			found = identifiers.get();
		}
		catch (CallerDeniedException ex) {
			if (cost(use, request) > 0) {
				throw ex;
			}
			return false;
		}
		if (found.isEmpty()) {
			return false;
		}
		Charge charge = new Charge(policy.policy(), found, cost(use, request));
		return charges
			.add(new PolicyCharge(policy, charge, policy.plans().isEmpty() ? null : this.plans.find(request)));
	}

	private long cost(PolicyUse use, HttpServletRequest request) {
		String policy = use.policy().policy().name();
		long cost = this.cost.cost(request, policy, use.cost());
		if (cost < 0) {
			throw new IllegalStateException(
					"Invalid cost (%d): the RequestCost of the policy '%s' must not be negative.".formatted(cost,
							policy));
		}
		return cost;
	}

}
