package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.ConcurrentCalls;

/**
 * Names the policies that limit how many requests run at the same time. Beside limits,
 * they are policies of their own, whose names cannot be configured.
 *
 * @since 0.1
 */
public final class CallsAtOnce {

	/** How long a call counts if its instance dies, unless configured. */
	static final Duration DEFAULT_LEASE = Duration.ofMinutes(1);

	/** Shorter leases may end while a call is renewed. */
	private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

	private static final Duration LONGEST_LEASE = Duration.ofDays(1);

	private static final ReservedName NAME = new ReservedName(" (at once)", "the calls that run at once");

	private CallsAtOnce() {
	}

	/**
	 * Rejects a reserved name.
	 * @param name the name of a policy
	 * @throws IllegalArgumentException if the name is reserved
	 */
	public static void requireOther(String name) {
		NAME.requireOther(name);
	}

	/**
	 * Returns the policy for the calls at once of a policy with limits.
	 * @param name the name of that policy
	 * @param most the largest number of calls
	 * @param lease how long a call counts if its instance dies
	 */
	static Policy beside(String name, long most, Duration lease) {
		return alone(NAME.of(name), most, lease);
	}

	/** Returns the policy of a name that limits only calls at once. */
	static Policy alone(String name, long most, Duration lease) {
		return new Policy(name, new ConcurrentCalls(), List.of(new Limit(most, lease)));
	}

	static long requireNumber(long most) {
		if (most < 1 || most > ConcurrentCalls.MAX_QUOTA) {
			throw new IllegalArgumentException("Must be from 1 to %d.".formatted(ConcurrentCalls.MAX_QUOTA));
		}
		return most;
	}

	static Duration requireLease(Duration lease) {
		if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
			throw new IllegalArgumentException("Must be from 1s to 1d.");
		}
		return lease;
	}

}
