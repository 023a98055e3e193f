package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.web.CapturedRequest.Handshake;
import io.github.ratelimit.spring.web.RequestState.DeferredUse;
import io.github.ratelimit.spring.web.identify.AccessLists.Access;
import io.github.ratelimit.spring.web.identify.AccessLists;
import io.github.ratelimit.spring.web.identify.RequestConditions;
import io.github.ratelimit.spring.web.identify.RequestIdentifiers;
import io.github.ratelimit.spring.web.identify.UserPlans;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.servlet.HandlerMapping;

/**
 * Finds who pays for a request, by which plan, and how much.
 * <p>
 * Safe for use by several threads.
 *
 * @param decider knows the current form of policies
 * @param cost the costs of requests; {@code null} for those of the configuration and of
 * annotations
 */
record RequestCharges(Decider decider, RequestIdentifiers identifiers, AccessLists lists, RequestConditions conditions,
		@Nullable RequestCost cost, UserPlans plans) {

	/**
	 * Returns what is known before the login, and defers the rest. Only the first use of
	 * a policy in a request is charged, even if that failed, so that its error page is
	 * not charged again.
	 * @param configured what the request uses of the policies of its path
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	List<PolicyCharge> beforeLogin(List<PolicyUse> configured, RequestState state, HttpServletRequest request) {
		List<PolicyUse> uses = new ArrayList<>(configured.size());
		for (PolicyUse use : configured) {
			if (this.conditions.apply(use.policy(), request) && state.addPolicy(use.policy().policy().name())) {
				uses.add(use);
			}
		}
		// This may change after the login, when the user is known.
		boolean unlimited = isUnlimited(!uses.isEmpty(), state, request, false);
		List<PolicyCharge> charges = new ArrayList<>(uses.size());
		List<DeferredUse> deferred = List.of();
		for (PolicyUse each : uses) {
			PolicyUse use = current(each, request);
			// The plan is that of the user.
			boolean plans = !use.policy().plans().isEmpty();
			boolean counted = !unlimited && !plans && charge(use, this.identifiers::findBeforeLogin, request, charges);
			if (needsUser(use.policy())) {
				deferred = deferred.isEmpty() ? new ArrayList<>(2) : deferred;
				deferred.add(new DeferredUse(each, plans, counted));
			}
		}
		state.defer(deferred, request.getDispatcherType());
		return charges;
	}

	/** Returns what {@link #beforeLogin} has deferred. */
	List<PolicyCharge> afterLogin(RequestState state, HttpServletRequest request) {
		List<DeferredUse> deferred = state.takeDeferred();
		if (isUnlimited(!deferred.isEmpty(), state, request, true)) {
			return List.of();
		}
		List<PolicyCharge> charges = new ArrayList<>(deferred.size());
		for (DeferredUse each : deferred) {
			charge(current(each.use(), request), (use, same) -> each.whole() ? this.identifiers.find(use, same)
					: this.identifiers.findAfterLogin(use, each.counted(), same), request, charges);
		}
		return charges;
	}

	/** Returns what calls of methods charge the request that makes them. */
	List<PolicyCharge> ofMethod(List<PolicyUse> uses, RequestState state, HttpServletRequest request) {
		if (isUnlimited(!uses.isEmpty(), state, request, true)) {
			return List.of();
		}
		String pattern = pattern(request);
		List<String> patterns = (pattern != null) ? List.of(pattern) : List.of();
		List<PolicyCharge> charges = new ArrayList<>(uses.size());
		for (PolicyUse each : uses) {
			if (this.conditions.apply(each.policy(), request)) {
				charge(current(each.withPatterns(patterns), request), this.identifiers::find, request, charges);
			}
		}
		return charges;
	}

	/** Returns the pattern by which Spring MVC has found the handler, if it has. */
	private static @Nullable String pattern(HttpServletRequest request) {
		Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
		return (pattern != null) ? pattern.toString() : null;
	}

	/**
	 * Returns whether a policy, or a part of it, can be enforced only after the login.
	 */
	boolean needsUser(IdentifiedPolicy policy) {
		return !policy.plans().isEmpty() || this.identifiers.needsUser(policy);
	}

	private PolicyUse current(PolicyUse configured, HttpServletRequest request) {
		return this.decider.current(configured, (name) -> this.identifiers.find(name, configured.patterns(), request));
	}

	/**
	 * Returns whether a request is not limited, whatever its policies are.
	 * @param limited whether there are policies; if not, only clients on lists matter
	 */
	private boolean isUnlimited(boolean limited, RequestState state, HttpServletRequest request, boolean userKnown) {
		if (this.lists.isEmpty() || (!limited && !this.lists.needFilter(userKnown))) {
			return false;
		}
		Access access = this.lists.access(request, userKnown);
		requireNotDenied(access);
		if (access == Access.UNLIMITED) {
			// Such clients may have been counted before the login.
			state.costs().refund();
		}
		return access == Access.UNLIMITED;
	}

	static void requireNotDenied(Access access) {
		if (access == Access.DENIED) {
			throw new CallerDeniedException("The caller is on the list of denied clients");
		}
	}

	/**
	 * Adds the charge of a use. Returns false if the policy is off, or the request has no
	 * identifier; a missing one denies no request that costs nothing.
	 */
	private boolean charge(PolicyUse use, BiFunction<PolicyUse, HttpServletRequest, List<Identifier>> finder,
			HttpServletRequest request, List<PolicyCharge> charges) {
		IdentifiedPolicy policy = use.policy();
		if (!policy.enforcement().enabled()) {
			return false;
		}
		List<Identifier> found;
		try {
			found = finder.apply(use, request);
		}
		catch (CallerDeniedException ex) {
			if (cost(use, request) > 0) {
				throw ex;
			}
			return false;
		}
		return !found.isEmpty()
				&& charges.add(new PolicyCharge(policy, new Charge(policy.policy(), found, cost(use, request)),
						policy.plans().isEmpty() ? null : this.plans.find(request)));
	}

	private long cost(PolicyUse use, HttpServletRequest request) {
		if (this.cost == null) {
			return use.cost();
		}
		String policy = use.policy().policy().name();
		long cost = this.cost.cost(request, policy, use.cost());
		if (cost < 0) {
			throw new IllegalStateException(
					"Invalid cost (%s): the RequestCost of the policy '%s' must not be negative.".formatted(cost,
							policy));
		}
		return cost;
	}

	/** Reads the caller of a request, for threads that will not have it. */
	CapturedRequest capture(HttpServletRequest request) {
		return capture(request, true, RequestState.of(request));
	}

	/** Reads the caller of a handshake. */
	Handshake captureHandshake(HttpServletRequest request) {
		return new Handshake(capture(request, true, null), capture(request, false, null));
	}

	private CapturedRequest capture(HttpServletRequest request, boolean withUser, @Nullable RequestState state) {
		return new CapturedRequest(this.identifiers.findAll(pattern(request), withUser, request),
				this.conditions.excluded(request), this.lists.access(request, withUser),
				withUser ? this.plans.findIfKnown(request) : null, state);
	}

	/**
	 * Returns the sender of a message.
	 * @param handshake of its session
	 * @param user who sends it; {@code null} if nobody has logged in
	 */
	CapturedRequest sender(Handshake handshake, @Nullable Principal user) {
		String name = (user != null) ? user.getName() : null;
		if (name == null || name.isBlank()) {
			return handshake.caller();
		}
		Identifier identifier = Identifier.user(name);
		if (identifier.equals(handshake.caller().find(IdentifierNames.USER))) {
			return handshake.caller();
		}
		CapturedRequest anybody = handshake.anybody();
		return anybody.withUser(identifier, this.lists.access(name, anybody.access()));
	}

}
