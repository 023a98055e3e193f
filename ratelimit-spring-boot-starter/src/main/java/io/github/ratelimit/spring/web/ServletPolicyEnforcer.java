package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.outage.AllowingRateLimiter;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyEnforcer;
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

	private final RateLimiter limiter;

	private final RequestIdentifiers identifiers = new RequestIdentifiers();

	private final StatusHeaders headers;

	private final Rejection rejection;

	/**
	 * Creates an enforcer.
	 * @param limiter what decides; requests are allowed while its store fails
	 * @param styles which headers to write; may be empty
	 * @param jsonMapper what writes the problem body of denied requests
	 */
	public ServletPolicyEnforcer(RateLimiter limiter, Set<HeaderStyle> styles, JsonMapper jsonMapper) {
		this.limiter = new AllowingRateLimiter(limiter);
		this.headers = new StatusHeaders(styles);
		this.rejection = new Rejection(jsonMapper);
	}

	/**
	 * Decides whether the request that the present thread serves may go on. Outside of a
	 * request the policy is counted for everybody together.
	 * <p>
	 * Where the path of the request has paid to the same policy and identifiers, only
	 * what the cost is higher is paid now; nothing, if it is not.
	 */
	@Override
	public Decision enforce(IdentifiedPolicy policy, long cost) {
		if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
			return this.limiter
				.tryAcquire(RateLimitRequest.of(new Charge(policy.policy(), List.of(Identifier.GLOBAL), cost)));
		}
		HttpServletRequest request = attributes.getRequest();
		RequestStatuses statuses = RequestStatuses.of(request);
		Charge charge = charge(policy, cost, request);
		OptionalLong paid = statuses.paid(charge);
		if (paid.isPresent() && paid.getAsLong() >= cost) {
			return new Decision(true, List.of());
		}
		Decision decision = this.limiter.tryAcquire(RateLimitRequest.of(charge.withCost(cost - paid.orElse(0))));
		statuses.add(decision);
		if (paid.isPresent() && decision.allowed()) {
			statuses.pay(charge);
		}
		HttpServletResponse response = attributes.getResponse();
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
		List<Charge> charges = new ArrayList<>();
		for (PathPolicy policy : policies) {
			policy.cost(request, paths).ifPresent((cost) -> charges.add(charge(policy.policy(), cost, request)));
		}
		if (charges.isEmpty()) {
			return true;
		}
		Decision decision = this.limiter.tryAcquire(new RateLimitRequest(charges));
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
		this.limiter.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		this.identifiers.resolver(identifier);
	}

	private Charge charge(IdentifiedPolicy policy, long cost, HttpServletRequest request) {
		return new Charge(policy.policy(), this.identifiers.find(policy.identifiers(), request), cost);
	}

}
