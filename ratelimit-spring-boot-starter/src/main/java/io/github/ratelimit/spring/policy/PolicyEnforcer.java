package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Optional;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.PolicyCharge;

/**
 * Enforces policies on whatever is being done by the present thread: finds out who is
 * doing it, decides, and tells them.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface PolicyEnforcer {

	/**
	 * Decides whether the present thread may go on, over all policies at once, all or
	 * nothing.
	 * @param uses what is used of each policy, none twice
	 * @return allowed or denied
	 * @throws io.github.ratelimit.StoreException if the store failed, and one of the
	 * policies denies requests then
	 * @throws CallerDeniedException if the caller is denied whatever its limits say
	 */
	Decision enforce(List<PolicyUse> uses);

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
	 * {@code global} is the only identifier besides expressions, and {@code user} where
	 * there is Spring Security.
	 * @param decisions what decides
	 * @return a new enforcer
	 */
	static PolicyEnforcer withoutRequests(PolicyDecisions decisions) {
		return new PolicyEnforcer() {

			@Override
			public Decision enforce(List<PolicyUse> uses) {
				return decisions.decide(uses.stream()
					.map((use) -> decisions.current(use, ThreadIdentifiers::find))
					.map(PolicyEnforcer::withoutRequest)
					.flatMap(Optional::stream)
					.toList());
			}

			@Override
			public void requireSupported(Policy policy) {
				decisions.requireSupported(policy);
			}

			@Override
			public void requireKnown(String identifier) {
				ThreadIdentifiers.requireKnown(identifier);
			}

		};
	}

	/**
	 * Returns the charge of a use outside of a request. Its identifiers are those that
	 * are expressions, {@code global}, and {@code user}, if Spring Security knows one on
	 * the present thread. If it has none of these, the policy's
	 * {@linkplain Enforcement#missing() rule} for that counts; as there is no address to
	 * fall back to, it is counted for everybody together then.
	 * @param use the use
	 * @return the charge; empty if the policy does not apply, or the call costs nothing
	 * @throws CallerDeniedException if the call lacks an identifier that the policy
	 * insists on
	 */
	static Optional<PolicyCharge> withoutRequest(PolicyUse use) {
		List<Identifier> identifiers = (use.cost() > 0) ? ThreadIdentifiers.find(use) : List.of();
		return identifiers.isEmpty() ? Optional.empty() : Optional
			.of(new PolicyCharge(use.policy(), new Charge(use.policy().policy(), identifiers, use.cost())));
	}

}
