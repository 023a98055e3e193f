package io.github.ratelimit.benchmarks.application;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The result of {@code wrk} for an application under load.
 *
 * @param requests number of answers
 * @param micros duration
 * @param refused number of answers that were neither 2xx nor 3xx
 * @param broken number of requests without an answer
 * @param p50 median of the response times, in microseconds
 * @param p99 99th percentile of the response times
 */
record Load(long requests, long micros, long refused, long broken, long p50, long p99) {

	private static final Pattern RESULT = Pattern.compile("^result (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+)$",
			Pattern.MULTILINE);

	/**
	 * Puts an application under load.
	 * @param script the script of {@code wrk}
	 * @param users number of users that send requests
	 * @throws IOException if there is no {@code wrk}
	 */
	static Load run(Path script, int port, int connections, int seconds, int users) throws IOException {
		Process process = new ProcessBuilder("wrk", "--threads", "1", "--connections", Integer.toString(connections),
				"--duration", seconds + "s", "--timeout", "10s", "--script", script.toString(),
				"http://127.0.0.1:" + port, "--", Integer.toString(users))
			.redirectErrorStream(true)
			.start();
		return parse(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
	}

	static Load parse(String output) {
		Matcher result = RESULT.matcher(output);
		if (!result.find()) {
			throw new IllegalStateException("wrk has failed: " + output);
		}
		long[] numbers = new long[result.groupCount()];
		for (int i = 0; i < numbers.length; i++) {
			numbers[i] = Long.parseLong(result.group(i + 1));
		}
		return new Load(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
	}

	double requestsPerSecond() {
		return this.requests * 1e6 / this.micros;
	}

	long allowed() {
		return this.requests - this.refused;
	}

}
