package io.github.ratelimit.benchmarks;

import redis.clients.jedis.UnifiedJedis;

/**
 * The work of a server.
 *
 * @param cpuMicros CPU time including the network, in microseconds
 * @param reads how often it has read from connections: one per round trip if a single
 * caller waits for each answer
 * @param commands the commands that it has executed
 */
public record ServerSample(long cpuMicros, long reads, CommandStatistics commands) {

	/** Number of reads that taking a sample adds to the next one. */
	private static final int QUESTIONS = 3;

	/**
	 * Takes a sample of a server.
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
	 * Returns the difference to an earlier sample.
	 * @param before an earlier sample of the same server; the commands of the sample do
	 * not count
	 */
	public ServerSample since(ServerSample before) {
		return new ServerSample(this.cpuMicros - before.cpuMicros, this.reads - before.reads - QUESTIONS,
				this.commands.since(before.commands).without("info"));
	}

}
