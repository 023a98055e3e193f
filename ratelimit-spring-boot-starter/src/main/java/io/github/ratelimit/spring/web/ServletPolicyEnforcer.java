package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.PolicyCharge;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import io.github.ratelimit.spring.policy.PolicyUse;
import io.github.ratelimit.spring.web.RequestState.DeferredUse;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Enforces policies on HTTP requests, and writes the limits into the response.
 * <p>
 * Safe for use by several threads.
 */
final class ServletPolicyEnforcer implements PolicyEnforcer {

	private static final Decision UNLIMITED = new Decision(true, List.of());

	private final PolicyDecisions decisions;

	private final PolicyEnforcer outsideOfRequests;

	private final RequestIdentifiers identifiers;

	private final @Nullable AccessLists lists;

	private final @Nullable RequestConditions conditions;

	private final @Nullable RequestCost cost;

	private final UserPlans plans;

	private final LimitedResponses responses;

	private final BooleanSupplier login;

	/**
	 * Creates an enforcer.
	 * @param decisions decides the requests
	 * @param identifiers finds the identifiers of requests
	 * @param lists the clients that are never limited or always denied
	 * @param conditions the requests to which policies apply
	 * @param cost the costs of requests; {@code null} for those of the configuration and
	 * of annotations
	 * @param plans the plans of users
	 * @param responses writes the limits into responses
	 * @param login returns whether requests may fail between the filters, because users
	 * log in there; if not, policies with plans are decided only after the login. Not
	 * called before all filters are registered
	 */
	public ServletPolicyEnforcer(PolicyDecisions decisions, RequestIdentifiers identifiers, AccessLists lists,
			RequestConditions conditions, @Nullable RequestCost cost, UserPlans plans, LimitedResponses responses,
			BooleanSupplier login) {
		this.decisions = decisions;
		this.outsideOfRequests = PolicyEnforcer.withoutRequests(decisions);
		this.identifiers = identifiers;
		this.lists = lists.isEmpty() ? null : lists;
		this.conditions = conditions.isEmpty() ? null : conditions;
		this.cost = cost;
		this.plans = plans;
		this.responses = responses;
		this.login = login;
	}

	/**
	 * Decides whether the request of the current thread may proceed, in addition to the
	 * policies of its path. Outside of a request, the identifiers are those of
	 * {@link PolicyEnforcer#withoutRequests}.
	 */
	@Override
	public Decision enforce(List<PolicyUse> uses, Consumer<Runnable> atEnd) {
		return prepare(uses, (state) -> true).apply(atEnd);
	}

	/**
	 * Finds the caller as {@link #enforce} does. Other threads may decide after the
	 * request has ended, and must not write into its response. What they decide before is
	 * written with the next dispatch.
	 */
	@Override
	public Function<Consumer<Runnable>, Decision> prepare(List<PolicyUse> uses) {
		return prepare(uses, RateLimitExceededFilter::isServing);
	}

	private Function<Consumer<Runnable>, Decision> prepare(List<PolicyUse> uses, Predicate<RequestState> mayWrite) {
		ServletRequestAttributes attributes = RateLimitExceededFilter.currentRequest();
		if (attributes == null) {
			return this.outsideOfRequests.prepare(uses);
		}
		HttpServletRequest request = attributes.getRequest();
		RequestState state = RequestState.of(request);
		if (isUnlimited(!uses.isEmpty(), state, request, true)) {
			return (atEnd) -> UNLIMITED;
		}
		List<PolicyCharge> charges = charges(uses, request);
		HttpServletResponse response = attributes.getResponse();
		watch(state, request, response);
		return (atEnd) -> {
			Decision decision = this.decisions.decideMethod(charges, (used) -> state.use(used, response), atEnd);
			state.statuses().add(decision, charges);
			if (response != null && mayWrite.test(state)) {
				this.responses.writeHeaders(state.statuses(), response);
			}
			return decision;
		};
	}

	@Override
	public Optional<PolicyCharge> charge(PolicyUse use) {
		ServletRequestAttributes attributes = RateLimitExceededFilter.currentRequest();
		if (attributes == null) {
			return this.outsideOfRequests.charge(use);
		}
		HttpServletRequest request = attributes.getRequest();
		return isUnlimited(true, RequestState.of(request), request, true) ? Optional.empty()
				: charges(List.of(use), request).stream().findFirst();
	}

	private List<PolicyCharge> charges(List<PolicyUse> uses, HttpServletRequest request) {
		Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
		List<String> patterns = (pattern != null) ? List.of(pattern.toString()) : List.of();
		List<PolicyCharge> charges = new ArrayList<>(uses.size());
		for (PolicyUse configured : uses) {
			if (applies(configured, request)) {
				PolicyUse use = current(configured.withPatterns(patterns), request);
				add(use, () -> this.identifiers.find(use, request), request, charges);
			}
		}
		return charges;
	}

	@Override
	public Identifier counted(Identifier identifier) {
		return this.identifiers.counted(identifier);
	}

	/**
	 * Decides what is known before the login, all or nothing, and defers the rest. Only
	 * the first use of a policy in a request is decided, even if that failed, so that its
	 * error page is not charged again.
	 * @param configured what the request uses of the policies of its path
	 */
	Decision enforceBeforeLogin(List<PolicyUse> configured, RequestState state, HttpServletRequest request,
			HttpServletResponse response) {
		List<PolicyUse> uses = new ArrayList<>(configured.size());
		for (PolicyUse use : configured) {
			if (applies(use, request) && state.isFirstUse(use.policy().policy().name())) {
				uses.add(use);
			}
		}
		// This may change after the login, when the user is known.
		boolean unlimited = isUnlimited(!uses.isEmpty(), state, request, false);
		List<PolicyCharge> charges = new ArrayList<>(uses.size());
		List<DeferredUse> deferred = List.of();
		for (PolicyUse each : uses) {
			PolicyUse use = current(each, request);
			boolean plans = !use.policy().plans().isEmpty();
			boolean counted = !unlimited && (!plans || request.getUserPrincipal() == null && mayFailToLogIn(request))
					&& add(use, () -> this.identifiers.findBeforeLogin(use, request), request, charges);
			if (counted && plans) {
				charges.add(charges.remove(charges.size() - 1).countedBeforeLogin());
			}
			if (needsUser(use.policy())) {
				deferred = deferred.isEmpty() ? new ArrayList<>(2) : deferred;
				deferred.add(new DeferredUse(each, plans, counted && !plans));
			}
		}
		state.defer(deferred, request.getDispatcherType());
		return charges.isEmpty() ? UNLIMITED : decide(charges, state, request, response);
	}

	/**
	 * Decides what {@link #enforceBeforeLogin} has deferred, all or nothing. Refunds what
	 * was counted separately until the login, because the request has passed it.
	 */
	Decision enforceAfterLogin(RequestState state, HttpServletRequest request, HttpServletResponse response) {
		refundBeforeLogin(state, request, response);
		List<DeferredUse> deferred = state.takeDeferred();
		if (isUnlimited(!deferred.isEmpty(), state, request, true)) {
			return UNLIMITED;
		}
		if (!deferred.isEmpty() && request.getUserPrincipal() == null) {
			state.noteWithoutUser(deferred);
		}
		List<PolicyCharge> charges = new ArrayList<>(deferred.size());
		for (DeferredUse each : deferred) {
			PolicyUse use = current(each.use(), request);
			add(use, () -> each.whole() ? this.identifiers.find(use, request)
					: this.identifiers.findAfterLogin(use, each.counted(), request), request, charges);
		}
		return charges.isEmpty() ? UNLIMITED : decide(charges, state, request, response);
	}

	/**
	 * Refunds at once all that a request has used so far, whatever its true cost is: its
	 * client may send the next one as soon as it has the response.
	 */
	void refund(RequestState state) {
		state.refund();
		state.end(this.decisions);
	}

	/** Other dispatches reach neither the login nor the filter after it. */
	private boolean mayFailToLogIn(HttpServletRequest request) {
		return request.getDispatcherType() == DispatcherType.REQUEST && this.login.getAsBoolean();
	}

	/** Refunds at once, so that other requests are not denied longer than necessary. */
	private void refundBeforeLogin(RequestState state, HttpServletRequest request, HttpServletResponse response) {
		boolean passed = request.getDispatcherType() == DispatcherType.REQUEST;
		List<PolicyCharge> used = passed ? state.takeBeforeLogin() : List.of();
		if (!used.isEmpty()) {
			this.decisions.refund(used);
			used.forEach((charge) -> state.statuses().remove(charge.charge().policy().name()));
			this.responses.writeHeadersAgain(state.statuses(), response);
		}
	}

	private boolean applies(PolicyUse use, HttpServletRequest request) {
		return this.conditions == null || this.conditions.apply(use.policy(), request);
	}

	private PolicyUse current(PolicyUse configured, HttpServletRequest request) {
		return this.decisions.current(configured,
				(name) -> this.identifiers.find(name, configured.patterns(), request));
	}

	/**
	 * Returns whether a request is not limited, whatever its policies are.
	 * @param limited whether there are policies; if not, only clients on lists matter
	 * @throws CallerDeniedException if the client is always denied
	 */
	private boolean isUnlimited(boolean limited, RequestState state, HttpServletRequest request, boolean userKnown) {
		if (this.lists == null || (!limited && !this.lists.needFilter(userKnown))) {
			return false;
		}
		AccessLists.Access access = this.lists.access(request, userKnown);
		if (access == AccessLists.Access.DENIED) {
			throw new CallerDeniedException("The caller is on the list of denied clients");
		}
		if (access == AccessLists.Access.UNLIMITED) {
			// Such clients may have been counted before the login.
			state.refund();
		}
		return access == AccessLists.Access.UNLIMITED;
	}

	/**
	 * Adds the charge of a use, if the request has an identifier. A missing identifier
	 * denies no request that costs nothing.
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
		if (this.cost == null) {
			return use.cost();
		}
		String policy = use.policy().policy().name();
		long cost = this.cost.cost(request, policy, use.cost());
		if (cost < 0) {
			throw new IllegalStateException(
					"Invalid cost (%d): the RequestCost of the policy '%s' must not be negative.".formatted(cost,
							policy));
		}
		return cost;
	}

	private Decision decide(List<PolicyCharge> charges, RequestState state, HttpServletRequest request,
			HttpServletResponse response) {
		watch(state, request, response);
		Decision decision = this.decisions.decide(charges, (used) -> state.use(used, response));
		state.statuses().add(decision, charges);
		this.responses.writeHeaders(state.statuses(), response);
		return decision;
	}

	private void watch(RequestState state, HttpServletRequest request, @Nullable HttpServletResponse response) {
		if (response != null && state.watch()) {
			BrokenResponse.watch(state, request, response, this.decisions);
		}
	}

	/**
	 * Returns whether a policy, or a part of it, can be enforced only after the login.
	 * @param policy a policy with known identifiers
	 * @return whether one of its identifiers needs the user, or it has plans
	 */
	boolean needsUser(IdentifiedPolicy policy) {
		return !policy.plans().isEmpty() || this.identifiers.needsUser(policy);
	}

	/**
	 * Returns whether a policy counts requests before the login. Must not be called
	 * before all filters are registered.
	 * @param policy a policy with known identifiers
	 * @return whether one of its identifiers needs no user, and it has no plans, or there
	 * is a login that may fail
	 */
	boolean countsBeforeLogin(IdentifiedPolicy policy) {
		return (policy.plans().isEmpty() || this.login.getAsBoolean())
				&& !policy.identifiers().stream().allMatch(this.identifiers::needsUser);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.decisions.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		this.identifiers.requireKnown(identifier);
	}

}
