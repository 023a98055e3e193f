package io.github.ratelimit;

import java.util.List;

/**
 * What a request uses of one policy: the identifiers to count, and the cost. Each
 * identifier has its own count, and all of them are checked. A value; safe for use by
 * several threads.
 *
 * @param policy the policy
 * @param identifiers at least one identifier, without duplicates
 * @param cost the cost, 0 or more; 0 checks the limits without using them
 * @param shadow whether the policy is in shadow mode: it never denies the request, and
 * {@link Decision#shadows()} returns what it would have decided alone. If the other
 * charges allow the request, it is counted if this policy would have allowed it or counts
 * denied requests. If they deny the request, it uses nothing of this policy, even if the
 * policy counts denied requests
 */
public record Charge(Policy policy, List<Identifier> identifiers, long cost, boolean shadow) {

	/**
	 * Creates a charge.
	 * @throws IllegalArgumentException if the cost is negative, or there is no identifier
	 * or a duplicate one
	 */
	public Charge {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%s): must not be negative.".formatted(cost));
		}
		identifiers = List.copyOf(identifiers);
		if (identifiers.isEmpty()) {
			throw new IllegalArgumentException(
					"Invalid identifiers: there must be at least one for the policy '%s'.".formatted(policy.name()));
		}
		if (hasOneTwice(identifiers)) {
			throw new IllegalArgumentException(
					"Invalid identifiers: there is a duplicate for the policy '%s'.".formatted(policy.name()));
		}
	}

	/** Creates a charge that may deny the request. */
	public Charge(Policy policy, List<Identifier> identifiers, long cost) {
		this(policy, identifiers, cost, false);
	}

	/** Creates no garbage. */
	private static boolean hasOneTwice(List<Identifier> identifiers) {
		for (int i = 1; i < identifiers.size(); i++) {
			if (identifiers.indexOf(identifiers.get(i)) < i) {
				return true;
			}
		}
		return false;
	}

	/** Creates a charge of cost 1 that may deny the request. */
	public static Charge of(Policy policy, Identifier... identifiers) {
		return new Charge(policy, List.of(identifiers), 1);
	}

	/** Returns the same charge with another cost, 0 or more. */
	public Charge withCost(long cost) {
		return new Charge(this.policy, this.identifiers, cost, this.shadow);
	}

	/** Returns the same charge in shadow mode, which never denies the request. */
	public Charge inShadow() {
		return new Charge(this.policy, this.identifiers, this.cost, true);
	}

}
