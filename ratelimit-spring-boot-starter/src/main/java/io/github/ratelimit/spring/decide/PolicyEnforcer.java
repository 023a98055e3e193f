package io.github.ratelimit.spring.decide;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.CallerDeniedException;

/**
 * Enforces policies on the current thread: finds the identifiers of its caller, decides,
 * and adds the limits to the response if there is one.
 * <p>
 * Implementations must be safe for use by several threads.
 */
public interface PolicyEnforcer {

	/**
	 * Decides over all policies at once, all or nothing.
	 * @param uses what is used of each policy, without duplicates
	 * @return what was decided; whoever proceeds ends it
	 * @throws io.github.ratelimit.StoreException if the store failed, and one of the
	 * policies denies requests in that case
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	default Decided enforce(List<PolicyUse> uses) {
		return prepare(uses).get();
	}

	/**
	 * Finds the caller on the current thread, as {@link #enforce(List)} does.
	 * @return decides for this caller each time it is called, on any thread
	 */
	Supplier<Decided> prepare(List<PolicyUse> uses);

	/**
	 * Returns what a use of a policy charges the caller on the current thread: of its
	 * current form, and nothing if it does not apply, or the call costs nothing.
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	Optional<PolicyCharge> charge(PolicyUse use);

	/**
	 * Returns an identifier as callers are counted by it, such as the network of an
	 * address. By default, the identifier itself.
	 * @param identifier any identifier
	 * @return the identifier to count by
	 * @throws IllegalArgumentException if callers are never counted by it
	 */
	default Identifier counted(Identifier identifier) {
		return identifier;
	}

	/**
	 * Rejects an identifier as in configuration that this enforcer does not know.
	 * @throws IllegalArgumentException if the identifier is unknown
	 */
	void requireKnown(String identifier);

	/**
	 * Rejects a policy that the store does not support. By default, all are supported.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm or its options are not supported
	 */
	default void requireSupported(Policy policy) {
	}

}
