package io.github.ratelimit.benchmarks;

import java.time.Instant;

/**
 * A request of an access log.
 *
 * @param time the time of the request
 * @param client the client
 */
record LogLine(Instant time, String client) {

	/**
	 * Parses a line of {@code epoch_seconds,client,method,path}.
	 * @throws IllegalArgumentException if there is no time or client
	 */
	static LogLine parse(String line) {
		String[] columns = line.split(",", 3);
		if (columns.length < 3 || !columns[0].matches("\\d{1,12}") || columns[1].isEmpty()) {
			throw new IllegalArgumentException(
					"Invalid line (%s): must be epoch_seconds,client,method,path.".formatted(line));
		}
		return new LogLine(Instant.ofEpochSecond(Long.parseLong(columns[0])), columns[1]);
	}

}
