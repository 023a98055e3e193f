package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.OutgoingCallDeniedException;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.decide.GivenIdentifiers;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;

import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Counts the calls of clients by the configured policies, and waits as long as their
 * answers say.
 *
 * @param policies the policies by name
 * @param current returns the current form of a policy
 * @param limiter decides
 * @param enforcer supplies what knows how identifiers are counted
 * @param waits remembers who has to wait
 */
record PolicyOutgoingLimits(ConfiguredPolicies policies, UnaryOperator<IdentifiedPolicy> current, PolicyLimiter limiter,
		Supplier<PolicyEnforcer> enforcer, RequestedWaits waits) implements OutgoingRateLimits {

	/** GitHub asks to wait with 403 as well. */
	private static final List<Integer> MAY_ASK_TO_WAIT = List.of(HttpStatus.TOO_MANY_REQUESTS.value(),
			HttpStatus.SERVICE_UNAVAILABLE.value(), HttpStatus.FORBIDDEN.value());

	@Override
	public ClientHttpRequestInterceptor interceptor(String policy) {
		GivenIdentifiers.of(GivenIdentifiers.policy(policy, this.policies), List.of(Identifier.GLOBAL));
		return interceptor(policy, (request) -> Identifier.GLOBAL);
	}

	@Override
	public ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier) {
		IdentifiedPolicy configured = GivenIdentifiers.policy(policy, this.policies);
		return (request, body, execution) -> {
			Identifier caller = this.enforcer.get().counted(identifier.apply(request));
			boolean denies = this.current.apply(configured).enforcement().denies();
			Duration wait = denies ? this.waits.remaining(policy, caller) : null;
			if (wait != null) {
				throw new OutgoingCallDeniedException(policy,
						new Decision(false, List.of(), wait, Decision.Source.LOCAL));
			}
			PolicyLimiter.Acquisition call = this.limiter.tryAcquire(policy, caller);
			if (!call.allowed()) {
				throw new OutgoingCallDeniedException(policy, call.decision());
			}
			try {
				ClientHttpResponse response = execution.execute(request, body);
				int status = response.getStatusCode().value();
				if (denies && MAY_ASK_TO_WAIT.contains(status)) {
					RequestedWait.of(response.getHeaders(), Instant.now())
						.ifPresent((time) -> this.waits.add(policy, caller, time,
								"another service has answered with %s and a time to wait".formatted(status)));
				}
				return response;
			}
			finally {
				call.end();
			}
		};
	}

}
