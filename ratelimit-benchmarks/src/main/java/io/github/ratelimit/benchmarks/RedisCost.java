package io.github.ratelimit.benchmarks;

import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;

/**
 * Prints the costs of the algorithms for a Redis server, as tables in Markdown:
 *
 * <pre>
 * mvn -q compile -P redis-cost -pl ratelimit-benchmarks -am
 * </pre>
 *
 * It starts a server unless the environment variable {@code RATELIMIT_TEST_REDIS} names
 * one, which should be otherwise idle. Takes about two minutes.
 */
public final class RedisCost {

	private RedisCost() {
	}

	/**
	 * Runs the measurements and prints the tables.
	 * @param arguments none
	 */
	public static void main(String[] arguments) {
		try (MeasuredRedis redis = MeasuredRedis.start();
				OurLimiters limiters = OurLimiters.connect(redis.uri(), Duration.ofSeconds(1))) {
			redis.clear();
			System.out.printf("%s, %s, %d CPU cores, Java %s%n", LocalDate.now(ZoneOffset.UTC), redis.version(),
					Runtime.getRuntime().availableProcessors(), Runtime.version().feature());
			print("A decision", new DecisionCost(redis, limiters).measure());
			redis.clear();
			GrowthCost growth = new GrowthCost(redis, limiters);
			print("By quota", growth.byQuota());
			redis.clear();
			print("By idle time", growth.byIdleTime());
			MemoryCost memory = new MemoryCost(redis, limiters);
			print("Memory after one request", memory.afterOneRequest());
			print("Memory by entries", memory.byEntries());
		}
	}

	private static void print(String title, MarkdownTable table) {
		System.out.printf("%n### %s%n%n%s%n", title, table);
	}

}
