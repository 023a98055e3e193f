package io.github.ratelimit;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A named set of limits that are enforced together, all of them at once, with one
 * algorithm.
 * <p>
 * Counts belong to the name, the algorithm and the windows: a changed quota takes effect
 * on the next request, a changed algorithm or window starts afresh. A value; safe for use
 * by several threads.
 *
 * @param name the name in headers, metrics and Redis keys: 1 to 128 printable ASCII
 * characters other than a slash
 * @param algorithm how requests are counted
 * @param limits at least one limit, at most {@link #MAX_LIMITS}, each with another
 * window; kept by ascending window, whatever order they are given in
 * @param countDenied whether denied requests count as well, which punishes those who do
 * not wait; requests that could never be allowed do not count
 * @since 0.1
 */
public record Policy(String name, Algorithm algorithm, List<Limit> limits, boolean countDenied) {

	/**
	 * Largest number of limits.
	 */
	public static final int MAX_LIMITS = 20;

	private static final int MAX_NAME_LENGTH = 128;

	/**
	 * Creates a policy.
	 * @throws IllegalArgumentException if the name cannot be sent in a header, there is
	 * no limit, there are too many, two limits have the same window, or the algorithm
	 * does not support one of them
	 */
	public Policy {
		requireName(name);
		if (limits.isEmpty()) {
			throw new IllegalArgumentException("Invalid policy (%s): must have at least one limit.".formatted(name));
		}
		if (limits.size() > MAX_LIMITS) {
			throw new IllegalArgumentException("Invalid policy (%s): must have at most %d limits, and this one has %d."
				.formatted(name, MAX_LIMITS, limits.size()));
		}
		limits = limits.stream().sorted(Comparator.comparing(Limit::window)).toList();
		Set<Object> windows = new HashSet<>();
		for (Limit limit : limits) {
			if (!windows.add(limit.window())) {
				throw new IllegalArgumentException("Invalid limits %s: there must be only one limit for the window %s."
					.formatted(limits, limit.windowText()));
			}
			if (limit.quota() > algorithm.maxQuota()) {
				throw new IllegalArgumentException("Invalid limit (%s): the quota must be at most %d for %s."
					.formatted(limit, algorithm.maxQuota(), algorithm.name()));
			}
		}
		algorithm.requireSupported(limits);
	}

	/**
	 * Refuses an invalid name of a policy.
	 * @param name the name
	 * @throws IllegalArgumentException if the name is not 1 to 128 printable ASCII
	 * characters other than a slash
	 */
	public static void requireName(String name) {
		if (name.isBlank() || name.length() > MAX_NAME_LENGTH
				|| !name.chars().allMatch((c) -> c >= ' ' && c <= '~' && c != '/')) {
			throw new IllegalArgumentException(
					"Invalid policy name (%s): must be 1 to %d printable ASCII characters other than '/'."
						.formatted(name, MAX_NAME_LENGTH));
		}
	}

	/**
	 * Creates a policy that does not count denied requests.
	 * @param name the name in headers, metrics and Redis keys
	 * @param algorithm how requests are counted
	 * @param limits at least one limit, each with another window
	 * @throws IllegalArgumentException as the constructor with all components
	 */
	public Policy(String name, Algorithm algorithm, List<Limit> limits) {
		this(name, algorithm, limits, false);
	}

	/**
	 * Creates a policy: {@code Policy.of("api", new SlidingLog(), Limit.parse("10/s"))}.
	 * @param name the name in headers, metrics and Redis keys
	 * @param algorithm how requests are counted
	 * @param limits at least one limit, each with another window
	 * @return the policy
	 * @throws IllegalArgumentException as the constructor
	 */
	public static Policy of(String name, Algorithm algorithm, Limit... limits) {
		return new Policy(name, algorithm, List.of(limits));
	}

	/**
	 * Returns the same policy, counting denied requests or not.
	 * @param countDenied whether denied requests count as well
	 * @return a new policy
	 */
	public Policy withCountDenied(boolean countDenied) {
		return new Policy(this.name, this.algorithm, this.limits, countDenied);
	}

	/**
	 * Returns the largest cost that any limit of this policy could ever allow.
	 * @return from 0 on; the largest quota unless the algorithm says otherwise
	 */
	long largestCost() {
		return this.limits.stream().mapToLong(this.algorithm::largestCost).max().orElseThrow();
	}

	/**
	 * Returns what the form of the stored state depends on: the algorithm and the
	 * windows, not the quotas. Policies of one name share their counts if it is the same.
	 * @return letters, digits and hyphens, such as {@code fw-s-m-h}
	 */
	public String stateForm() {
		StringBuilder form = new StringBuilder(this.algorithm.code());
		for (Limit limit : this.limits) {
			form.append('-').append(limit.windowText());
		}
		return form.toString();
	}

}
