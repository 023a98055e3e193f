package io.github.ratelimit;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A request to be decided at once, all or nothing: one or more policies, each with the
 * identifiers to count and its cost. A value; safe for use by several threads.
 *
 * @param charges at least one charge, each of a different policy
 * @param metadata text to keep with the request if the algorithm of a policy keeps
 * metadata. It does not affect the decision; may be empty, at most
 * {@link #MAX_METADATA_LENGTH} characters ({@code char}s). An unpaired surrogate is
 * replaced by U+FFFD, because not every store can hold one
 * @param call a number that identifies the request, from 0 to {@link #MAX_CALL}, for
 * algorithms that {@linkplain Algorithm#countsCalls() count calls}: a refund with the
 * same number removes this very request. Use a random number for each request; 0 if it is
 * not identified
 */
public record RateLimitRequest(List<Charge> charges, String metadata, long call) {

	/**
	 * Largest number of limits to check, counted separately for each identifier. The
	 * store decides so many in about a millisecond, during which all other requests wait.
	 */
	public static final int MAX_STATUSES = 256;

	/** Longest metadata, in characters. */
	public static final int MAX_METADATA_LENGTH = 256;

	/** Largest number of a call. */
	public static final long MAX_CALL = (1L << 48) - 1;

	private static final Pattern UNPAIRED_SURROGATE = Pattern.compile("\\p{Cs}");

	/**
	 * Creates a request.
	 * @throws IllegalArgumentException if there is no charge, two policies have the same
	 * name, there are too many limits to check, or a value is out of range
	 */
	public RateLimitRequest {
		charges = List.copyOf(charges);
		if (metadata.length() > MAX_METADATA_LENGTH) {
			throw new IllegalArgumentException("Invalid metadata (%s characters): must be at most %s."
				.formatted(metadata.length(), MAX_METADATA_LENGTH));
		}
		if (call < 0 || call > MAX_CALL) {
			throw new IllegalArgumentException("Invalid call (%s): must be from 0 to %s.".formatted(call, MAX_CALL));
		}
		if (!metadata.isEmpty()) {
			metadata = UNPAIRED_SURROGATE.matcher(metadata).replaceAll("\uFFFD");
		}
		if (charges.isEmpty()) {
			throw new IllegalArgumentException("Invalid request: there must be at least one policy to check.");
		}
		requireFewStatuses(charges);
		requireDifferentPolicies(charges);
	}

	private static void requireFewStatuses(List<Charge> charges) {
		long statuses = 0;
		for (int i = 0; i < charges.size(); i++) {
			statuses += (long) charges.get(i).identifiers().size() * charges.get(i).policy().limits().size();
		}
		if (statuses > MAX_STATUSES) {
			throw new IllegalArgumentException(
					"Invalid request (%s limits to check, counted for each identifier): there must be at most %s."
						.formatted(statuses, MAX_STATUSES));
		}
	}

	/** Compares all pairs; there are few, because the number of statuses is bounded. */
	private static void requireDifferentPolicies(List<Charge> charges) {
		for (int i = 1; i < charges.size(); i++) {
			String name = charges.get(i).policy().name();
			for (int j = 0; j < i; j++) {
				if (charges.get(j).policy().name().equals(name)) {
					throw new IllegalArgumentException(
							"Invalid request: the policy '%s' is used twice.".formatted(name));
				}
			}
		}
	}

	/** Creates a request that is not identified. */
	public RateLimitRequest(List<Charge> charges, String metadata) {
		this(charges, metadata, 0);
	}

	/** Creates a request without metadata. */
	public RateLimitRequest(List<Charge> charges) {
		this(charges, "");
	}

	/** Returns the charges that may deny the request, in its order; may be empty. */
	public List<Charge> enforced() {
		return charges(false);
	}

	/** Returns the charges in shadow mode, in the order of the request; usually empty. */
	public List<Charge> shadows() {
		return charges(true);
	}

	/** Creates no garbage if all charges are of one kind, which is the usual case. */
	private List<Charge> charges(boolean shadow) {
		int number = 0;
		for (int i = 0; i < this.charges.size(); i++) {
			number += (this.charges.get(i).shadow() == shadow) ? 1 : 0;
		}
		if (number == 0 || number == this.charges.size()) {
			return (number == 0) ? List.of() : this.charges;
		}
		return this.charges.stream().filter((charge) -> charge.shadow() == shadow).toList();
	}

	/** Returns the same request with other metadata. */
	public RateLimitRequest withMetadata(String metadata) {
		return new RateLimitRequest(this.charges, metadata, this.call);
	}

	/** Returns the same request as the call with a number, which should be random. */
	public RateLimitRequest withCall(long call) {
		return new RateLimitRequest(this.charges, this.metadata, call);
	}

	/** Returns the same request with other charges. */
	public RateLimitRequest withCharges(List<Charge> charges) {
		return new RateLimitRequest(charges, this.metadata, this.call);
	}

	/**
	 * Returns the same request, with each cost at most what its policy can ever allow.
	 */
	public RateLimitRequest withPossibleCosts() {
		return withCharges(this.charges.stream()
			.map((charge) -> charge.withCost(Math.min(charge.cost(), charge.policy().largestCost())))
			.toList());
	}

	/** Creates a request of several charges. */
	public static RateLimitRequest of(Charge... charges) {
		return new RateLimitRequest(List.of(charges));
	}

	/** Creates a request of cost 1 on one policy. */
	public static RateLimitRequest of(Policy policy, Identifier... identifiers) {
		return of(Charge.of(policy, identifiers));
	}

}
