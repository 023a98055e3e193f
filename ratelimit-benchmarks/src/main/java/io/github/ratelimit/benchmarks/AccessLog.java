package io.github.ratelimit.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.benchmarks.LogReplay.Difference;

/**
 * Prints how the decisions of the algorithms on real traffic differ from the exact ones
 * of {@code sliding-log}, as tables in Markdown:
 *
 * <pre>
 * mvn -q compile -P access-log -pl ratelimit-benchmarks -am -Dlog=access-log.csv
 * </pre>
 *
 * The log is a CSV file with a header and the columns {@code epoch_seconds},
 * {@code client}, {@code method} and {@code path}.
 */
public final class AccessLog {

	private static final List<String> LIMITS = List.of("20/m", "200/h", "5/10s", "100/d");

	private AccessLog() {
	}

	/**
	 * Replays a log and prints the tables.
	 * @param arguments the file
	 * @throws IOException if the file cannot be read
	 */
	public static void main(String[] arguments) throws IOException {
		List<LogLine> lines = read(Path.of(arguments[0]));
		System.out.printf("%,d requests of %,d clients, from %s to %s%n", lines.size(),
				lines.stream().map(LogLine::client).distinct().count(), lines.get(0).time(),
				lines.get(lines.size() - 1).time());
		for (String limit : LIMITS) {
			System.out.printf("%n%s%n", table(lines, Limit.parse(limit)));
		}
	}

	private static List<LogLine> read(Path file) throws IOException {
		try (Stream<String> lines = Files.lines(file)) {
			return lines.skip(1).map(LogLine::parse).sorted(Comparator.comparing(LogLine::time)).toList();
		}
	}

	static String table(List<LogLine> lines, Limit limit) {
		LogReplay replay = new LogReplay(lines, limit);
		MarkdownTable table = new MarkdownTable("%s for each client".formatted(limit), "decisions that differ",
				"wrongly admitted", "wrongly denied");
		for (Algorithm algorithm : Algorithms.all()) {
			Difference difference = replay.difference(algorithm);
			table.add('`' + algorithm.name() + '`', difference.total(), difference.admitted(), difference.denied());
		}
		return "%,d of %,d requests are denied exactly.%n%n%s".formatted(replay.denied(), lines.size(), table);
	}

}
