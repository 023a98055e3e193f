package io.github.ratelimit;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A named set of limits that are enforced together, with one algorithm.
 * <p>
 * Counts belong to the name, the algorithm and the windows: a changed quota takes effect
 * on the next request, a changed algorithm or window starts a fresh count. A value; safe
 * for use by several threads.
 *
 * @param name the name in headers, metrics and Redis keys: 1 to 128 printable ASCII
 * characters other than a slash
 * @param algorithm how requests are counted
 * @param limits at least one limit, at most {@link #MAX_LIMITS}, each with a different
 * window; sorted by ascending window
 * @param countDenied whether denied requests count as well, which penalizes clients that
 * do not wait; requests that can never be allowed do not count
 * @param lease the time for which an instance takes a part of the quota in advance, from
 * {@link #SHORTEST_LEASE} to {@link #LONGEST_LEASE}, to decide busy identifiers in
 * memory; {@code null} for none. Has no effect in shadow mode, and without
 * {@code io.github.ratelimit.lease.LeasedRateLimiter}
 * @param penalty blocks identifiers that are denied too often; {@code null} for none
 */
public record Policy(String name, Algorithm algorithm, List<Limit> limits, boolean countDenied,
		@Nullable Duration lease, @Nullable Penalty penalty) {

	/** Largest number of limits. */
	public static final int MAX_LIMITS = 20;

	/** Shortest lease: below it, taking parts would cost more than it saves. */
	public static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

	/** Longest lease. */
	public static final Duration LONGEST_LEASE = Duration.ofMinutes(1);

	private static final int MAX_NAME_LENGTH = 128;

	/**
	 * Creates a policy.
	 * @throws IllegalArgumentException if a value is out of range, two limits have the
	 * same window, the algorithm does not support a limit, denied requests or the lease,
	 * or a lease is combined with denied requests that count
	 */
	public Policy {
		requireName(name);
		if (limits.isEmpty()) {
			throw new IllegalArgumentException("Invalid policy (%s): must have at least one limit.".formatted(name));
		}
		if (limits.size() > MAX_LIMITS) {
			throw new IllegalArgumentException("Invalid policy (%s): must have at most %s limits, but has %s."
				.formatted(name, MAX_LIMITS, limits.size()));
		}
		limits = limits.stream().sorted(Comparator.comparing(Limit::window).thenComparing(Limit::windowText)).toList();
		Limit last = null;
		for (Limit limit : limits) {
			if (last != null && limit.equals(last.withQuota(limit.quota()))) {
				throw new IllegalArgumentException("Invalid limits %s: there must be only one limit for the window %s."
					.formatted(limits, limit.windowText()));
			}
			last = limit;
			if (limit.calendar() != null && !algorithm.followsCalendar(limit)) {
				throw new IllegalArgumentException(
						"Invalid limit (%s): %s has no calendar windows, only fixed-window does; use that, or a number of days such as 30d."
							.formatted(limit, algorithm.name()));
			}
			if (limit.quota() > algorithm.maxQuota()) {
				throw new IllegalArgumentException("Invalid limit (%s): the quota must be at most %s for %s."
					.formatted(limit, algorithm.maxQuota(), algorithm.name()));
			}
		}
		algorithm.requireSupported(limits);
		if (countDenied && algorithm.countsCalls()) {
			throw new IllegalArgumentException(
					"Invalid policy (%s): %s cannot count denied requests, because they do not run.".formatted(name,
							algorithm.name()));
		}
		if (lease != null) {
			requireSupported(lease, algorithm, countDenied);
		}
	}

	private static void requireSupported(Duration lease, Algorithm algorithm, boolean countDenied) {
		if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
			throw new IllegalArgumentException("Invalid lease (%s): must be from %sms to %sm.".formatted(lease,
					SHORTEST_LEASE.toMillis(), LONGEST_LEASE.toMinutes()));
		}
		if (!algorithm.supportsLeases()) {
			throw new IllegalArgumentException(
					"Invalid lease (%s): %s does not support leases; use fixed-window or first-request-window."
						.formatted(lease, algorithm.name()));
		}
		if (countDenied) {
			throw new IllegalArgumentException(
					"Invalid lease (%s): must not be combined with count-denied, because a part that is denied would count."
						.formatted(lease));
		}
	}

	/**
	 * Refuses an invalid name of a policy.
	 * @throws IllegalArgumentException if it is not 1 to 128 printable ASCII characters
	 * other than a slash
	 */
	public static void requireName(String name) {
		if (name.isBlank() || name.length() > MAX_NAME_LENGTH
				|| !name.chars().allMatch((c) -> c >= ' ' && c <= '~' && c != '/')) {
			throw new IllegalArgumentException(
					"Invalid policy name (%s): must be 1 to %s printable ASCII characters other than '/'."
						.formatted(name, MAX_NAME_LENGTH));
		}
	}

	/** Creates a policy without lease and penalty. */
	public Policy(String name, Algorithm algorithm, List<Limit> limits, boolean countDenied) {
		this(name, algorithm, limits, countDenied, null, null);
	}

	/** Creates a policy without options. */
	public Policy(String name, Algorithm algorithm, List<Limit> limits) {
		this(name, algorithm, limits, false);
	}

	/** Creates a policy that does not count denied requests. */
	public static Policy of(String name, Algorithm algorithm, Limit... limits) {
		return new Policy(name, algorithm, List.of(limits));
	}

	/** Returns the same policy, counting denied requests or not. */
	public Policy withCountDenied(boolean countDenied) {
		return new Policy(this.name, this.algorithm, this.limits, countDenied, this.lease, this.penalty);
	}

	/** Returns the same policy with another penalty; {@code null} for none. */
	public Policy withPenalty(@Nullable Penalty penalty) {
		return new Policy(this.name, this.algorithm, this.limits, this.countDenied, this.lease, penalty);
	}

	/**
	 * Returns the same policy with other limits.
	 * @throws IllegalArgumentException if the algorithm does not support the limits
	 */
	public Policy withLimits(List<Limit> limits) {
		return new Policy(this.name, this.algorithm, limits, this.countDenied, this.lease, this.penalty);
	}

	/**
	 * Returns the same policy with another lease; {@code null} for none.
	 * @throws IllegalArgumentException if the lease is out of range or not supported
	 */
	public Policy withLease(@Nullable Duration lease) {
		return new Policy(this.name, this.algorithm, this.limits, this.countDenied, lease, this.penalty);
	}

	long largestCost() {
		return this.limits.stream().mapToLong(this.algorithm::largestCost).max().orElseThrow();
	}

	/**
	 * Returns the form of the stored state, of the algorithm and the windows, such as
	 * {@code fw-s-m-h}. Policies of the same name and form share their counts.
	 */
	public String stateForm() {
		StringBuilder form = new StringBuilder(this.algorithm.code());
		for (Limit limit : this.limits) {
			form.append('-').append(limit.windowText());
		}
		return form.toString();
	}

}
