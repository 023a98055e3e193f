package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import io.github.ratelimit.Algorithm;

/**
 * The algorithms that come with the library, by name.
 */
public final class Algorithms {

	private static final List<Algorithm> ALL = List.of(new FixedWindow(), new FirstRequestWindow(), new SlidingLog(),
			new SlidingWindow(), new SlidingWindowCounter(), new LeakyBucket(), new TokenBucket());

	/** Other common names. */
	private static final Map<String, String> ALIASES = Map.of("sliding-tail", "sliding-window-counter", "gcra",
			"leaky-bucket");

	private Algorithms() {
	}

	/** Returns all algorithms, with default options. */
	public static List<Algorithm> all() {
		return ALL;
	}

	/**
	 * Returns an algorithm by name, with default options.
	 * @param name the name, such as {@code fixed-window}, or the alias
	 * {@code sliding-tail} for {@code sliding-window-counter} or {@code gcra} for
	 * {@code leaky-bucket}
	 * @throws IllegalArgumentException if there is no algorithm of that name; the message
	 * lists the names
	 */
	public static Algorithm named(String name) {
		return find(name).orElseThrow(() -> new IllegalArgumentException("Invalid algorithm (%s): must be one of %s."
			.formatted(name, ALL.stream().map(Algorithm::name).collect(Collectors.joining(", ")))));
	}

	/**
	 * Returns an algorithm as {@link #named(String)}; empty if there is none of that
	 * name.
	 */
	public static Optional<Algorithm> find(String name) {
		String known = ALIASES.getOrDefault(name, name);
		return ALL.stream().filter((algorithm) -> algorithm.name().equals(known)).findFirst();
	}

}
