package io.github.ratelimit;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * How the requests of an identifier are counted against the limits of a policy.
 * <p>
 * An algorithm is three files: a record that implements this interface and holds the
 * options, a {@link Meter} with the algorithm in plain Java, and a script named
 * {@code <script>.lua} beside the record's class with the same algorithm for Redis. The
 * algorithms that come with the library are in {@code io.github.ratelimit.algorithm};
 * their scripts show the form.
 * <p>
 * Implementations are values: immutable, safe for use by several threads, and equal when
 * their options are equal.
 *
 * @since 0.1
 */
public interface Algorithm {

	/**
	 * Returns the name of the algorithm in messages, and in configuration for those that
	 * come with the library.
	 * @return lower-case words joined by hyphens, such as {@code fixed-window}, unlike
	 * the name of any algorithm that comes with the library
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
	 * Returns the name of the script, for algorithms that share one.
	 * @return the name of the resource without {@code .lua}; the {@link #name()} unless
	 * said otherwise
	 */
	default String script() {
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
	 * Returns the algorithm that holds a limit by counts of windows alone, where scripts
	 * cannot be used and single requests are not kept.
	 * @param limit a limit of a policy with this algorithm
	 * @return this algorithm unless said otherwise
	 */
	default Algorithm withoutScripts(Limit limit) {
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
	 * Returns the numbers that the script is made with, besides the windows. Each set of
	 * numbers is another script, so there must be few sets of them.
	 * @param limits the limits of the policy, by ascending window
	 * @return numbers by their names in the script: capital letters, digits and
	 * underscores, always the same names; none unless said otherwise
	 */
	default Map<String, Number> constants(List<Limit> limits) {
		return Map.of();
	}

	/**
	 * Returns the numbers that the script is made with for one limit.
	 * @param limit one of the limits
	 * @return numbers by their names, as of {@link #constants(List)}
	 */
	default Map<String, Number> limitConstants(Limit limit) {
		return Map.of();
	}

	/**
	 * Returns the numbers that the script is told with each request for one limit,
	 * besides the quota.
	 * @param limit one of the limits
	 * @param nowMicros about the present time, by the clock of this process, in
	 * microseconds since the epoch
	 * @return a number for each argument that the script names, or none at all for a
	 * limit that needs none; none unless said otherwise
	 */
	default long[] arguments(Limit limit, long nowMicros) {
		return new long[0];
	}

	/**
	 * Returns whether single requests can be read back.
	 * @return whether meters have {@link Meter#entries(int, long)}; {@code false} unless
	 * said otherwise
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
