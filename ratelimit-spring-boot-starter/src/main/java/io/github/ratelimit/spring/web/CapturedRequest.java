package io.github.ratelimit.spring.web;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.decide.CarriedCaller;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.web.identify.AccessLists.Access;
import org.jspecify.annotations.Nullable;

/**
 * What decides over the calls of a request, read from it for threads that do not have it.
 *
 * @param identifiers the identifiers that policies use, by their names
 * @param excluded names of the policies that do not apply to the request
 * @param plan the plan of its user; {@code null} if there is none
 * @param state of the request, which may have ended; {@code null} if what calls use is
 * not settled with it
 */
record CapturedRequest(Map<String, Identifier> identifiers, Set<String> excluded, Access access, @Nullable String plan,
		@Nullable RequestState state) implements CarriedCaller {

	/** Returns this caller, of whom the user is now known. */
	CapturedRequest withUser(Identifier user, Access access) {
		Map<String, Identifier> identifiers = new HashMap<>(this.identifiers);
		identifiers.put(IdentifierNames.USER, user);
		return new CapturedRequest(identifiers, this.excluded, access, this.plan, this.state);
	}

	@Override
	public @Nullable Identifier find(String name) {
		return this.identifiers.get(name);
	}

	/**
	 * Finds what calls on the current thread, whose caller this is, are charged.
	 * @param outside finds the charges of a thread without a request
	 * @return decides, also after the end of the request
	 */
	Supplier<Decided> prepare(List<PolicyUse> uses, Decider decider, PolicyEnforcer outside) {
		List<PolicyCharge> charges = uses.stream()
			.map((use) -> charge(use, outside))
			.flatMap(Optional::stream)
			.toList();
		return () -> {
			if (this.state == null || this.state.isEnded()) {
				return decider.decide(charges);
			}
			Decided decided = decider.decideProvisionally(charges);
			this.state.use(decided, null);
			return decided;
		};
	}

	/** Returns what a use on the current thread charges; empty if nothing. */
	Optional<PolicyCharge> charge(PolicyUse use, PolicyEnforcer outside) {
		RequestCharges.requireNotDenied(this.access);
		if (this.access == Access.UNLIMITED || this.excluded.contains(use.policy().policy().name())) {
			return Optional.empty();
		}
		return outside.charge(use)
			.map((charge) -> charge.policy().plans().isEmpty() ? charge
					: new PolicyCharge(charge.policy(), charge.charge(), this.plan));
	}

	/**
	 * The caller of a WebSocket handshake, which does not pay for the messages after it.
	 *
	 * @param caller who it was
	 * @param anybody what holds for other users of the same session, too
	 */
	record Handshake(CapturedRequest caller, CapturedRequest anybody) {

		private static final CapturedRequest NOBODY = new CapturedRequest(Map.of(), Set.of(), Access.LIMITED, null,
				null);

		/** A handshake that is not known. */
		static final Handshake UNKNOWN = new Handshake(NOBODY, NOBODY);

	}

}
