package io.github.ratelimit.spring.policy;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.spring.Enforcement;

/**
 * The defaults for what a policy does not set: {@code ratelimit.defaults}.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param identifiers at least one identifier as in configuration
 * @param algorithm how requests are counted
 * @param countDenied whether denied requests count as well
 * @param enforcement how policies are enforced
 * @since 0.1
 */
public record PolicyDefaults(List<String> identifiers, Algorithm algorithm, boolean countDenied,
		Enforcement enforcement) {

	/**
	 * Creates defaults.
	 */
	public PolicyDefaults {
		identifiers = List.copyOf(identifiers);
	}

	/**
	 * Creates the defaults of the library, except for the identifiers.
	 * @param identifiers at least one identifier as in configuration
	 */
	public PolicyDefaults(List<String> identifiers) {
		this(identifiers, new SlidingWindow(), false, Enforcement.DEFAULT);
	}

}
