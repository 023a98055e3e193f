package io.github.ratelimit.spring;

import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.outage.AllowingRateLimiter;

/**
 * Enforces a policy on whatever is being done by the present thread: finds out who is
 * doing it, decides, and tells them.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface PolicyEnforcer {

	/**
	 * Decides whether the present thread may go on.
	 * @param policy the policy to enforce
	 * @param cost what is used of each quota, 0 or more
	 * @return allowed or denied
	 */
	Decision enforce(IdentifiedPolicy policy, long cost);

	/**
	 * Refuses an identifier that this enforcer cannot find out.
	 * @param identifier an identifier as in configuration
	 * @throws IllegalArgumentException if the identifier is unknown
	 */
	void requireKnown(String identifier);

	/**
	 * Refuses a policy that the store behind this enforcer cannot hold.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm or its options are not supported;
	 * all are unless said otherwise
	 */
	default void requireSupported(Policy policy) {
	}

	/**
	 * Returns an enforcer for applications that do not serve requests, in which
	 * {@code global} is the only identifier.
	 * @param limiter what decides; calls are allowed while its store fails
	 * @return a new enforcer
	 */
	static PolicyEnforcer withoutRequests(RateLimiter limiter) {
		RateLimiter allowing = new AllowingRateLimiter(limiter);
		return new PolicyEnforcer() {

			@Override
			public Decision enforce(IdentifiedPolicy policy, long cost) {
				return allowing
					.tryAcquire(RateLimitRequest.of(new Charge(policy.policy(), List.of(Identifier.GLOBAL), cost)));
			}

			@Override
			public void requireSupported(Policy policy) {
				limiter.requireSupported(policy);
			}

			@Override
			public void requireKnown(String identifier) {
				if (!Identifier.GLOBAL.type().equals(identifier)) {
					throw new IllegalArgumentException(
							"Invalid identifier (%s): must be global where there are no web requests."
								.formatted(identifier));
				}
			}

		};
	}

}
