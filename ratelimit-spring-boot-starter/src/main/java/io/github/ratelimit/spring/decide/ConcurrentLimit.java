package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.ConcurrentCalls;

/**
 * The policies that limit concurrent calls: how many requests run at the same time.
 * Beside limits, they are policies of their own, whose names cannot be configured.
 */
public final class ConcurrentLimit {

	/** How long a call counts if its instance dies, unless configured. */
	public static final Duration DEFAULT_LEASE = Duration.ofMinutes(1);

	/** Shorter leases may end while a call is renewed. */
	private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

	private static final Duration LONGEST_LEASE = Duration.ofDays(1);

	/** What is appended to the name of a policy with limits. */
	private static final String SUFFIX = " (at once)";

	private static final int MAX_NAME_LENGTH = 128;

	/** Digits of the hash in names that are too long for the suffix. */
	private static final int DIGITS = 8;

	private ConcurrentLimit() {
	}

	/**
	 * Rejects a reserved name of a policy.
	 * @throws IllegalArgumentException if it is reserved
	 */
	public static void requireOther(String name) {
		if (name.endsWith(SUFFIX)) {
			throw new IllegalArgumentException(
					"Invalid policy name (%s): must not end with '%s', which names concurrent calls.".formatted(name,
							SUFFIX));
		}
	}

	/**
	 * Returns the policy for the concurrent calls of a policy of that name with limits.
	 * @param lease how long a call counts if its instance dies
	 */
	public static Policy beside(String name, long most, Duration lease) {
		return alone(besideName(name), most, lease);
	}

	private static String besideName(String name) {
		if (name.length() + SUFFIX.length() <= MAX_NAME_LENGTH) {
			return name + SUFFIX;
		}
		return name.substring(0, MAX_NAME_LENGTH - SUFFIX.length() - DIGITS)
				+ String.format(Locale.ROOT, "%08x", name.hashCode()) + SUFFIX;
	}

	/** Returns the policy of a name that limits only concurrent calls. */
	public static Policy alone(String name, long most, Duration lease) {
		return new Policy(name, new ConcurrentCalls(), List.of(new Limit(most, lease)));
	}

	public static long requireNumber(long most) {
		if (most < 1 || most > ConcurrentCalls.MAX_QUOTA) {
			throw new IllegalArgumentException("Must be from 1 to %s.".formatted(ConcurrentCalls.MAX_QUOTA));
		}
		return most;
	}

	public static Duration requireLease(Duration lease) {
		if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
			throw new IllegalArgumentException("Must be from 1s to 1d.");
		}
		return lease;
	}

	/** Returns a number for a new request; 0 if no policy limits calls. */
	static long newCall(List<PolicyCharge> charges) {
		for (int i = 0; i < charges.size(); i++) {
			if (limitsCalls(charges.get(i))) {
				return ThreadLocalRandom.current().nextLong(1, RateLimitRequest.MAX_CALL + 1);
			}
		}
		return 0;
	}

	private static boolean limitsCalls(PolicyCharge charge) {
		return charge.limitsOnlyCalls() || charge.policy().concurrent() != null;
	}

	/**
	 * Adds charges for the concurrent calls that policies limit. All these policies know
	 * the request by the same number.
	 * @param call the number; 0 if no policy limits calls
	 */
	static List<PolicyCharge> with(List<PolicyCharge> charges, long call) {
		if (call == 0) {
			return charges;
		}
		return Stream
			.concat(charges.stream().filter((charge) -> !charge.limitsOnlyCalls()),
					charges.stream().flatMap((charge) -> charge.ofCall(call).stream()))
			.toList();
	}

}
