package io.github.ratelimit;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How the requests of an identifier are counted against the limits of a policy.
 * <p>
 * An algorithm is three files: a record that implements this interface and holds the
 * options, a {@link Meter} with the algorithm in plain Java, and a script part named
 * {@code <part>.lua} beside the record's class with the same algorithm for Redis. The
 * algorithms that come with the library are in {@code io.github.ratelimit.algorithm}.
 * <p>
 * Implementations are values: immutable, safe for use by several threads, and equal when
 * their options are equal.
 *
 * @since 0.1
 */
public interface Algorithm {

	/**
	 * Returns the name of the algorithm in configuration and metrics.
	 * @return lower-case words joined by hyphens, such as {@code fixed-window}
	 */
	String name();

	/**
	 * Returns a short code that becomes part of Redis keys. It names the algorithm and
	 * whatever options its stored state depends on, so that a change of those starts a
	 * fresh count.
	 * @return lower-case letters and digits, unlike the code of any other algorithm
	 */
	String code();

	/**
	 * Returns the name of the script part, for algorithms that share one.
	 * @return the name of the resource without {@code .lua}; the {@link #name()} unless
	 * said otherwise
	 */
	default String part() {
		return name();
	}

	/**
	 * Returns the largest quota that this algorithm can count exactly.
	 * @return at most {@link Limit#MAX_QUOTA}
	 */
	default long maxQuota() {
		return Limit.MAX_QUOTA;
	}

	/**
	 * Returns the largest cost that a limit could ever allow.
	 * @param limit the limit
	 * @return the quota unless said otherwise
	 */
	default long largestCost(Limit limit) {
		return limit.quota();
	}

	/**
	 * Returns the algorithm with which one of several instances holds its share of the
	 * limits by itself: options that are quotas are divided as quotas are.
	 * @param instances the number of instances, at least 1
	 * @param limits the shares of the limits, by ascending window, which the algorithm
	 * that is returned supports
	 * @return this algorithm unless said otherwise
	 */
	default Algorithm share(int instances, List<Limit> limits) {
		return this;
	}

	/**
	 * Refuses limits that this algorithm cannot hold with these options.
	 * @param limits the limits of a policy, by ascending window
	 * @throws IllegalArgumentException if there is such a limit
	 */
	default void requireSupported(List<Limit> limits) {
	}

	/**
	 * Returns what the script part has to know besides the limits.
	 * @param limits the limits of the policy, by ascending window
	 * @param nowMicros about the present time, by the clock of this process, in
	 * microseconds since the epoch
	 * @return numbers, as text; none unless said otherwise
	 */
	default List<String> options(List<Limit> limits, long nowMicros) {
		return List.of();
	}

	/**
	 * Returns whether single requests can be read back.
	 * @return whether meters have {@link Meter#entries()}; {@code false} unless said
	 * otherwise
	 */
	default boolean keepsEntries() {
		return false;
	}

	/**
	 * Returns whether the counts of windows can be read back.
	 * @return whether meters have {@link Meter#series()}; {@code false} unless said
	 * otherwise
	 */
	default boolean keepsWindows() {
		return false;
	}

	/**
	 * Returns what the state of one identifier amounts to at one moment.
	 * @param limits the limits of the policy, by ascending window
	 * @param state what {@link Meter#state()} returned when it was last stored, or
	 * {@code null} if nothing is stored
	 * @param nowMicros the time, in microseconds since the epoch
	 * @return a meter; if it is changed, the state must not be used any more
	 */
	Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros);

}
