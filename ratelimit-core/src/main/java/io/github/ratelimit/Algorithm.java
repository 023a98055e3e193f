package io.github.ratelimit;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * How the requests of an identifier are counted against the limits of a policy.
 * <p>
 * An algorithm is three files: a record that implements this interface and holds the
 * options, a {@link Meter} in plain Java, and the same algorithm as a script
 * {@code <script>.lua} for Redis, in the package of the record. Implementations are
 * values: immutable, safe for use by several threads, and equal when their options are.
 */
public interface Algorithm {

	/**
	 * Returns the name in messages and configuration, different from all others:
	 * lower-case words joined by hyphens, such as {@code fixed-window}.
	 */
	String name();

	/**
	 * Returns a short code for Redis keys, of lower-case letters and digits, different
	 * from all others. It contains the options that the stored state depends on, so that
	 * a change of them starts a fresh count.
	 */
	String code();

	/** Returns the name of the script without {@code .lua}; by default the name. */
	default String script() {
		return name();
	}

	/**
	 * Returns the largest quota that can be counted exactly, at most
	 * {@link Limit#MAX_QUOTA}.
	 */
	default long maxQuota() {
		return Limit.MAX_QUOTA;
	}

	/** Returns the largest cost that a limit can ever allow; by default the quota. */
	default long largestCost(Limit limit) {
		return limit.quota();
	}

	/**
	 * Returns the algorithm for one of several instances that each enforce a share of the
	 * limits: options that are quotas are divided like quotas.
	 * @param instances the number of instances, at least 1
	 * @param limits the shares of the limits, by ascending window, which the returned
	 * algorithm supports
	 * @return by default this algorithm
	 */
	default Algorithm share(int instances, List<Limit> limits) {
		return this;
	}

	/**
	 * Refuses limits that this algorithm does not support with these options.
	 * @param limits the limits of a policy, by ascending window
	 * @throws IllegalArgumentException if a limit is not supported
	 */
	default void requireSupported(List<Limit> limits) {
	}

	/**
	 * Returns the constants of the script, besides the windows; by default none. Each
	 * combination of values is a different script, so there must be few.
	 * @param limits the limits of the policy, by ascending window
	 * @return numbers by their names in the script: capital letters, digits and
	 * underscores, always the same names; by default none
	 */
	default Map<String, Number> constants(List<Limit> limits) {
		return Map.of();
	}

	/**
	 * Returns the arguments of the script for one limit, besides the quota, which are
	 * sent with each request; by default none.
	 * @param limit one of the limits
	 * @param nowMicros the time by the clock of this process, in microseconds since the
	 * epoch
	 */
	default long[] arguments(Limit limit, long nowMicros) {
		return new long[0];
	}

	/**
	 * Returns whether the windows of a limit are those of a calendar, so that one may be
	 * longer than another; by default not. Policies refuse a limit with a
	 * {@linkplain Limit#calendar() calendar unit} without this.
	 */
	default boolean followsCalendar(Limit limit) {
		return false;
	}

	/** Returns whether meters implement {@link Meter#entries}; by default not. */
	default boolean keepsEntries() {
		return false;
	}

	/** Returns whether meters implement {@link Meter#series}; by default not. */
	default boolean keepsWindows() {
		return false;
	}

	/**
	 * Returns whether a policy with this algorithm may have a {@linkplain Policy#lease()
	 * lease}; by default {@code false}. This is exact only if a use counts the same at
	 * any time of its window, and {@link LimitStatus#resetAfter()} after a use is the
	 * time until that window ends. Meters then implement {@link Meter#cancel}, and the
	 * script does the same.
	 */
	default boolean supportsLeases() {
		return false;
	}

	/**
	 * Returns whether requests are calls that count only until they have ended, when they
	 * are refunded; by default {@code false}. Each then needs a
	 * {@linkplain RateLimitRequest#call() number}. Because any may end at any moment,
	 * denials are not remembered, and policies cannot count denied requests.
	 */
	default boolean countsCalls() {
		return false;
	}

	/**
	 * Returns a meter for the state of one identifier at one time.
	 * @param limits the limits of the policy, by ascending window
	 * @param state what {@link Meter#state()} returned when it was last stored;
	 * {@code null} if nothing is. It must no longer be used after the meter is changed
	 * @param nowMicros the time, in microseconds since the epoch
	 */
	Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros);

}
