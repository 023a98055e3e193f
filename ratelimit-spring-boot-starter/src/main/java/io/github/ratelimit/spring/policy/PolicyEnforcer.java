package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.Enforcement;

/**
 * Enforces policies on the current thread: finds the identifiers of its caller, decides,
 * and adds the limits to the response if there is one.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface PolicyEnforcer {

	/**
	 * Decides over all policies at once, all or nothing, whether the current thread may
	 * proceed.
	 * @param uses what is used of each policy, without duplicates
	 * @return the decision
	 * @throws io.github.ratelimit.StoreException if the store failed, and one of the
	 * policies denies requests in that case
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	default Decision enforce(List<PolicyUse> uses) {
		return enforce(uses, (end) -> {
		});
	}

	/**
	 * Decides as {@link #enforce(List)}, for a call that ends.
	 * @param uses what is used of each policy, without duplicates
	 * @param atEnd receives what must run when the call has ended, if anything; it must
	 * be referred to until then
	 * @return the decision
	 * @throws io.github.ratelimit.StoreException if the store failed, and one of the
	 * policies denies requests in that case
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	default Decision enforce(List<PolicyUse> uses, Consumer<Runnable> atEnd) {
		return prepare(uses).apply(atEnd);
	}

	/**
	 * Finds the caller on the current thread, for decisions on other threads.
	 * @param uses what is used of each policy, without duplicates
	 * @return decides for this caller on any thread, each time it is called, as
	 * {@link #enforce(List, Consumer)} does
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	Function<Consumer<Runnable>, Decision> prepare(List<PolicyUse> uses);

	/**
	 * Returns what a use of a policy charges the caller on the current thread, without
	 * deciding. By default, that of a thread outside of a request.
	 * @param use what is used of the policy
	 * @return the charge of the current form of the policy; empty if it does not apply
	 * @throws CallerDeniedException if the caller is denied regardless of its limits
	 */
	default Optional<PolicyCharge> charge(PolicyUse use) {
		return withoutRequest(use);
	}

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
	 * Rejects an identifier that this enforcer does not know.
	 * @param identifier an identifier as in configuration
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

	/**
	 * Returns an enforcer for applications without web requests. Its identifiers are
	 * {@code global}, expressions, and {@code user} if Spring Security is present.
	 * @param decisions decides the requests
	 * @return a new enforcer
	 */
	static PolicyEnforcer withoutRequests(PolicyDecisions decisions) {
		return new PolicyEnforcer() {

			@Override
			public Function<Consumer<Runnable>, Decision> prepare(List<PolicyUse> uses) {
				List<PolicyCharge> charges = uses.stream().map(this::charge).flatMap(Optional::stream).toList();
				return (atEnd) -> decisions.decideMethod(charges, atEnd);
			}

			@Override
			public Optional<PolicyCharge> charge(PolicyUse use) {
				return withoutRequest(decisions.current(use, ThreadIdentifiers::find));
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
	 * Returns the charge of a use outside of a request. Its identifiers are expressions,
	 * {@code global}, and {@code user} if Spring Security has one on the current thread.
	 * If it has none of these, the policy's {@linkplain Enforcement#missing() rule} for
	 * missing identifiers applies; {@code global} replaces the address, because there is
	 * none.
	 * @param use the use
	 * @return the charge; empty if the policy does not apply, or the call costs nothing
	 * @throws CallerDeniedException if the call lacks an identifier that the policy
	 * requires
	 */
	static Optional<PolicyCharge> withoutRequest(PolicyUse use) {
		List<Identifier> identifiers = (use.cost() > 0) ? ThreadIdentifiers.find(use) : List.of();
		return identifiers.isEmpty() ? Optional.empty() : Optional
			.of(new PolicyCharge(use.policy(), new Charge(use.policy().policy(), identifiers, use.cost())));
	}

}
