package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.decide.CarriedCaller;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.decide.ThreadEnforcer;
import io.github.ratelimit.spring.web.identify.RequestIdentifiers;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Enforces policies on the request of the current thread, and writes the limits into the
 * response. Outside of a request, the identifiers are those of a {@link ThreadEnforcer}.
 * <p>
 * Safe for use by several threads.
 */
final class ServletPolicyEnforcer implements PolicyEnforcer {

	private final Decider decider;

	private final PolicyEnforcer outside;

	private final RequestCharges charges;

	private final RequestIdentifiers identifiers;

	private final LimitHeaders headers;

	ServletPolicyEnforcer(Decider decider, RequestCharges charges, RequestIdentifiers identifiers,
			LimitHeaders headers) {
		this.decider = decider;
		this.outside = new ThreadEnforcer(decider);
		this.charges = charges;
		this.identifiers = identifiers;
		this.headers = headers;
	}

	@Override
	public Decided enforce(List<PolicyUse> uses) {
		return prepare(uses, (state) -> true).get();
	}

	/**
	 * Finds the caller as {@link #enforce} does. Other threads may decide after the
	 * request has ended, and must not write into its response. What they decide before is
	 * written with the next dispatch.
	 */
	@Override
	public Supplier<Decided> prepare(List<PolicyUse> uses) {
		return prepare(uses, RateLimitExceededFilter::isServing);
	}

	private Supplier<Decided> prepare(List<PolicyUse> uses, Predicate<RequestState> mayWrite) {
		ServletRequestAttributes attributes = RateLimitExceededFilter.currentRequest();
		if (attributes == null) {
			return (CarriedCaller.current() instanceof CapturedRequest caller)
					? caller.prepare(uses, this.decider, this.outside) : this.outside.prepare(uses);
		}
		HttpServletRequest request = attributes.getRequest();
		HttpServletResponse response = attributes.getResponse();
		RequestState state = RequestState.of(request);
		List<PolicyCharge> charges = this.charges.ofMethod(uses, state, request);
		if (response != null) {
			state.watch(request, response, this.decider);
		}
		return () -> {
			Decided decided = this.decider.decideProvisionally(charges);
			state.use(decided, response);
			if (response != null && mayWrite.test(state)) {
				state.statuses().write(this.headers, response);
			}
			return decided;
		};
	}

	@Override
	public Optional<PolicyCharge> charge(PolicyUse use) {
		ServletRequestAttributes attributes = RateLimitExceededFilter.currentRequest();
		if (attributes == null) {
			return (CarriedCaller.current() instanceof CapturedRequest caller) ? caller.charge(use, this.outside)
					: this.outside.charge(use);
		}
		HttpServletRequest request = attributes.getRequest();
		return this.charges.ofMethod(List.of(use), RequestState.of(request), request).stream().findFirst();
	}

	@Override
	public Identifier counted(Identifier identifier) {
		return this.identifiers.counted(identifier);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.decider.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		this.identifiers.requireKnown(identifier);
	}

}
