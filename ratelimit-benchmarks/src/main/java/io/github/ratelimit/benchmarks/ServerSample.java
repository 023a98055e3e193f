package io.github.ratelimit.benchmarks;

import redis.clients.jedis.UnifiedJedis;

/**
 * What a server has done.
 *
 * @param cpuMicros time of the processor, the network included, in microseconds
 * @param reads how often it has read from connections: one caller that waits for each
 * answer makes one read a round trip
 * @param commands what it has executed
 */
public record ServerSample(long cpuMicros, long reads, CommandStatistics commands) {

	/** Of a sample, which the next one reads: each is a read. */
	private static final int QUESTIONS = 3;

	/**
	 * Asks a server.
	 */
	public static ServerSample take(UnifiedJedis client) {
		String cpu = client.info("cpu");
		return new ServerSample(micros(cpu, "used_cpu_user") + micros(cpu, "used_cpu_sys"),
				Long.parseLong(value(client.info("stats"), "total_reads_processed")),
				CommandStatistics.parse(client.info("commandstats")));
	}

	private static long micros(String info, String name) {
		return Math.round(Double.parseDouble(value(info, name)) * 1_000_000);
	}

	private static String value(String info, String name) {
		return info.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1).strip())
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Returns what was done since.
	 * @param before an earlier sample of the same server; its own questions do not count
	 */
	public ServerSample since(ServerSample before) {
		return new ServerSample(this.cpuMicros - before.cpuMicros, this.reads - before.reads - QUESTIONS,
				this.commands.since(before.commands).without("info"));
	}

}
