package io.github.ratelimit.benchmarks;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.function.ToLongFunction;

import redis.clients.jedis.UnifiedJedis;

/**
 * The resources used by the decisions of {@link Soak} at one time.
 *
 * @param time since the start
 * @param decisions since the start
 * @param redisMicros CPU time of Redis since its start
 * @param redisBytes memory of Redis for values and scripts, without its table of keys,
 * which doubles at times and never shrinks
 * @param redisKeys number of Redis keys
 * @param connections number of connections to Redis
 * @param heapBytes memory of this process after a garbage collection
 * @param threads number of threads of this process
 */
record SoakSample(Duration time, long decisions, long redisMicros, long redisBytes, long redisKeys, long connections,
		long heapBytes, long threads) {

	static final SoakSample NONE = new SoakSample(Duration.ZERO, 0, 0, 0, 0, 0, 0, 0);

	static final String HEAD = """
			| s | decisions a second | Redis µs each, with network | Redis MB, without its table of keys | Redis keys | connections | heap MB | threads |
			|---:|---:|---:|---:|---:|---:|---:|---:|""";

	/** Memory use varies a little. */
	private static final double TOLERANCE = 1.1;

	private static final double MEGABYTE = 1 << 20;

	static SoakSample take(Duration time, MeasuredRedis redis, long decisions) {
		UnifiedJedis client = redis.client();
		long micros = micros(client, "used_cpu_user") + micros(client, "used_cpu_sys");
		System.gc();
		return new SoakSample(time, decisions, micros, bytes(client.info("memory")), client.dbSize(),
				number(client.info("clients"), "connected_clients"),
				ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
				ManagementFactory.getThreadMXBean().getThreadCount());
	}

	private static long micros(UnifiedJedis client, String name) {
		return Math.round(Double.parseDouble(value(client.info("cpu"), name)) * 1_000_000);
	}

	private static long bytes(String memory) {
		return number(memory, "used_memory_dataset") + number(memory, "used_memory_scripts");
	}

	private static long number(String info, String name) {
		return Long.parseLong(value(info, name));
	}

	private static String value(String info, String name) {
		return info.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1).strip())
			.findFirst()
			.orElseThrow();
	}

	String row(SoakSample before) {
		long more = this.decisions - before.decisions;
		return "| %d | %,.0f | %.1f | %.1f | %,d | %d | %.1f | %d |".formatted(this.time.toSeconds(),
				more / (double) this.time.minus(before.time).toSeconds(),
				(this.redisMicros - before.redisMicros) / (double) more, this.redisBytes / MEGABYTE, this.redisKeys,
				this.connections, this.heapBytes / MEGABYTE, this.threads);
	}

	/**
	 * Fails if a resource has grown from the second third of the samples to the last.
	 * @param samples in order
	 */
	static void check(List<SoakSample> samples) {
		check(samples, "memory of Redis", SoakSample::redisBytes);
		check(samples, "number of Redis keys", SoakSample::redisKeys);
		check(samples, "heap", SoakSample::heapBytes);
		check(samples, "connections", SoakSample::connections);
		check(samples, "threads", SoakSample::threads);
	}

	private static void check(List<SoakSample> samples, String name, ToLongFunction<SoakSample> number) {
		int third = samples.size() / 3;
		long before = most(samples.subList(third, 2 * third), number);
		long after = most(samples.subList(2 * third, samples.size()), number);
		if (after > before * TOLERANCE) {
			throw new IllegalStateException("The %s has grown from %d to %d".formatted(name, before, after));
		}
		System.out.printf("%s: at most %,d in the second third of the time, %,d in the last%n", name, before, after);
	}

	private static long most(List<SoakSample> samples, ToLongFunction<SoakSample> number) {
		return samples.stream().mapToLong(number).max().orElseThrow();
	}

}
