package io.github.ratelimit.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;

/**
 * The memory of an identifier on the server, including its Redis key.
 */
final class MemoryCost {

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final List<Integer> ENTRIES = List.of(10, 100, 1000);

	private final MeasuredRedis redis;

	private final OurLimiters limiters;

	MemoryCost(MeasuredRedis redis, OurLimiters limiters) {
		this.redis = redis;
		this.limiters = limiters;
	}

	/**
	 * Measures all algorithms after one request.
	 * @return a table of bytes
	 */
	MarkdownTable afterOneRequest() {
		MarkdownTable table = new MarkdownTable("algorithm", "bytes, 1 limit", "bytes, 3 limits");
		for (Algorithm algorithm : Algorithms.all()) {
			table.add('`' + algorithm.name() + '`', bytes(algorithm, 1, "100/m"),
					bytes(algorithm, 1, "10/s", "100/m", "1000/h"));
		}
		return table;
	}

	/**
	 * Measures the algorithms that keep entries, with many of them.
	 * @return a table of bytes
	 */
	MarkdownTable byEntries() {
		MarkdownTable table = new MarkdownTable("algorithm", "entries", "bytes", "bytes an entry");
		Map<String, Algorithm> algorithms = new LinkedHashMap<>();
		algorithms.put("`sliding-window`, the default", new SlidingWindow());
		algorithms.put("`sliding-window`, `precision: 1s`", new SlidingWindow(Duration.ofSeconds(1)));
		algorithms.put("`sliding-log`", new SlidingLog());
		algorithms.forEach((name, algorithm) -> {
			for (int entries : ENTRIES) {
				long bytes = bytes(algorithm, entries, "1000/h");
				table.add(name, entries, bytes, (double) bytes / entries);
			}
		});
		return table;
	}

	/** Returns the bytes after requests two seconds apart. */
	private long bytes(Algorithm algorithm, int requests, String... limits) {
		this.redis.clear();
		Policy policy = Policy.of("api", algorithm, List.of(limits).stream().map(Limit::parse).toArray(Limit[]::new));
		SettableClock clock = new SettableClock(Instant.parse("2026-03-01T12:00:00Z"));
		RateLimiter limiter = this.limiters.scripts(clock);
		for (int i = 0; i < requests; i++) {
			if (!limiter.tryAcquire(policy, ADDRESS).allowed()) {
				throw new IllegalStateException("Request %d was denied under %s".formatted(i, policy));
			}
			clock.advance(Duration.ofSeconds(2));
		}
		return this.redis.client().memoryUsage(this.redis.keys().get(0), 0);
	}

}
