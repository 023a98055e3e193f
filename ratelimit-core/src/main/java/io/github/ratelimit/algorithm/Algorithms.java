package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.ratelimit.Algorithm;

/**
 * The algorithms that come with the library, by name.
 */
public final class Algorithms {

	private static final List<Algorithm> ALL = List.of(new FixedWindow(), new FirstRequestWindow(), new SlidingLog(),
			new SlidingWindow(), new SlidingWindowCounter(), new LeakyBucket(), new TokenBucket());

	private static final Map<String, String> ALIASES = Map.of("sliding-tail", "sliding-window-counter", "gcra",
			"leaky-bucket");

	private Algorithms() {
	}

	/** Returns all algorithms that policies may name, with default options. */
	public static List<Algorithm> all() {
		return ALL;
	}

	/**
	 * Returns an algorithm by name, with default options; empty if there is none.
	 * @param name the name, such as {@code fixed-window}, or the alias
	 * {@code sliding-tail} for {@code sliding-window-counter} or {@code gcra} for
	 * {@code leaky-bucket}
	 */
	public static Optional<Algorithm> find(String name) {
		String known = ALIASES.getOrDefault(name, name);
		return ALL.stream().filter((algorithm) -> algorithm.name().equals(known)).findFirst();
	}

}
