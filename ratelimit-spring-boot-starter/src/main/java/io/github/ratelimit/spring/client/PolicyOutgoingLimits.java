package io.github.ratelimit.spring.client;

import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.policy.GivenIdentifiers;
import io.github.ratelimit.spring.policy.PolicyEnforcer;

import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestInterceptor;

/**
 * Limits calls by the configured policies.
 */
final class PolicyOutgoingLimits implements OutgoingRateLimits {

	private final ConfiguredPolicies policies;

	private final UnaryOperator<IdentifiedPolicy> current;

	private final PolicyLimiter limiter;

	private final Supplier<PolicyEnforcer> enforcer;

	private final RequestedWaits waits;

	/**
	 * Creates limits.
	 * @param policies the policies by name
	 * @param current returns the current form of a policy
	 * @param limiter decides
	 * @param enforcer supplies what knows how identifiers are counted
	 * @param waits remembers who has to wait
	 */
	PolicyOutgoingLimits(ConfiguredPolicies policies, UnaryOperator<IdentifiedPolicy> current, PolicyLimiter limiter,
			Supplier<PolicyEnforcer> enforcer, RequestedWaits waits) {
		this.policies = policies;
		this.current = current;
		this.limiter = limiter;
		this.enforcer = enforcer;
		this.waits = waits;
	}

	@Override
	public ClientHttpRequestInterceptor interceptor(String policy) {
		GivenIdentifiers.of(GivenIdentifiers.policy(policy, this.policies), List.of(Identifier.GLOBAL));
		return interceptor(policy, (request) -> Identifier.GLOBAL);
	}

	@Override
	public ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier) {
		IdentifiedPolicy configured = GivenIdentifiers.policy(policy, this.policies);
		return new OutgoingInterceptor(policy, (request) -> this.enforcer.get().counted(identifier.apply(request)),
				() -> this.current.apply(configured).enforcement().mode() == Mode.ENFORCE, this.limiter, this.waits,
				InstantSource.system());
	}

}
