package io.github.ratelimit;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * How the requests of an identifier are counted against the limits of a policy.
 * <p>
 * An algorithm consists of three files: a record that implements this interface and holds
 * the options, a {@link Meter} with the algorithm in plain Java, and a script
 * {@code <script>.lua} with the same algorithm for Redis, in the package of the record.
 * See {@code io.github.ratelimit.algorithm} for examples of scripts.
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
	 * @return lower-case words joined by hyphens, such as {@code fixed-window}, different
	 * from the names of all algorithms of the library
	 */
	String name();

	/**
	 * Returns a short code for Redis keys. It contains the algorithm and the options that
	 * its stored state depends on, so that a change of them starts a fresh count.
	 * @return lower-case letters and digits, different from the codes of all other
	 * algorithms
	 */
	String code();

	/**
	 * Returns the name of the script, for algorithms that share one.
	 * @return the name of the resource without {@code .lua}; by default the
	 * {@link #name()}
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
	 * Returns the largest cost that a limit can ever allow.
	 * @param limit the limit
	 * @return by default the quota
	 */
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
	 * Returns the algorithm that enforces a limit by counts of windows alone, where
	 * scripts cannot be used and single requests are not kept.
	 * @param limit a limit of a policy with this algorithm
	 * @return by default this algorithm
	 */
	default Algorithm withoutScripts(Limit limit) {
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
	 * Returns the constants of the script, besides the windows. Each combination of
	 * values is a different script, so there must be few.
	 * @param limits the limits of the policy, by ascending window
	 * @return numbers by their names in the script: capital letters, digits and
	 * underscores, always the same names; by default none
	 */
	default Map<String, Number> constants(List<Limit> limits) {
		return Map.of();
	}

	/**
	 * Returns the constants of the script for one limit.
	 * @param limit one of the limits
	 * @return numbers by their names, as for {@link #constants(List)}
	 */
	default Map<String, Number> limitConstants(Limit limit) {
		return Map.of();
	}

	/**
	 * Returns the arguments of the script for one limit, besides the quota. They are sent
	 * with each request.
	 * @param limit one of the limits
	 * @param nowMicros the current time by the clock of this process, in microseconds
	 * since the epoch
	 * @return a number for each argument of the script, or none for a limit that needs
	 * none; by default none
	 */
	default long[] arguments(Limit limit, long nowMicros) {
		return new long[0];
	}

	/**
	 * Returns whether the requests can be read back.
	 * @return whether meters implement {@link Meter#entries(int, long)}; by default
	 * {@code false}
	 */
	default boolean keepsEntries() {
		return false;
	}

	/**
	 * Returns whether the counts of windows can be read back.
	 * @return whether meters implement {@link Meter#series()}; by default {@code false}
	 */
	default boolean keepsWindows() {
		return false;
	}

	/**
	 * Returns whether a part of a quota can be taken in advance and used until the window
	 * ends. This is exact only if a use counts the same at any time of its window, and
	 * {@link LimitStatus#resetAfter()} after a use is the time until that window ends.
	 * @return whether a policy with this algorithm may have a {@linkplain Policy#lease()
	 * lease}; if so, its meters implement {@link Meter#cancel}, and its script does the
	 * same. By default {@code false}
	 */
	default boolean supportsLeases() {
		return false;
	}

	/**
	 * Returns whether requests count only until they have ended, when they are refunded.
	 * Each then needs a {@linkplain RateLimitRequest#call() number}. Because any of them
	 * may end at any moment, denials are not remembered, and policies cannot count denied
	 * requests, which never run.
	 * @return whether requests are calls that end; by default {@code false}
	 */
	default boolean countsCalls() {
		return false;
	}

	/**
	 * Returns a meter for the state of one identifier at one time.
	 * @param limits the limits of the policy, by ascending window
	 * @param state what {@link Meter#state()} returned when it was last stored;
	 * {@code null} if nothing is stored
	 * @param nowMicros the time, in microseconds since the epoch
	 * @return a meter; after it is changed, the state must no longer be used
	 */
	Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros);

}
