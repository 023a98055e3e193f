package io.github.ratelimit;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How the requests of an identifier are counted against the limits of a policy.
 * <p>
 * An algorithm is three files: a record that implements this interface and holds the
 * options, a {@link Meter} with the algorithm in plain Java, and a script part named
 * {@code <name>.lua} beside the record's class with the same algorithm for Redis. The
 * algorithms that come with the library are in {@code io.github.ratelimit.algorithm}.
 * <p>
 * Implementations are values: immutable, safe for use by several threads, and equal when
 * their options are equal.
 *
 * @since 0.1
 */
public interface Algorithm {

	/**
	 * Returns the name of the algorithm in configuration and metrics, which is also the
	 * name of its script part.
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
	 * Returns the largest quota that this algorithm can count exactly.
	 * @return at most {@link Limit#MAX_QUOTA}
	 */
	default long maxQuota() {
		return Limit.MAX_QUOTA;
	}

	/**
	 * Returns what the state of one identifier amounts to at one moment.
	 * @param limits the limits of the policy, by ascending window
	 * @param state what {@link Meter#state()} returned when it was last stored, or
	 * {@code null} if nothing is stored
	 * @param nowMicros the time, in microseconds since the epoch
	 * @return a meter, which works on a copy of the state
	 */
	Meter meter(List<Limit> limits, long @Nullable [] state, long nowMicros);

}
