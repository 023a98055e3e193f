package io.github.ratelimit.benchmarks.speed;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.github.ratelimit.benchmarks.MarkdownTable;

/**
 * The results of all rounds, as tables in Markdown: one that compares all numbers of
 * callers, and one with all results for each of them.
 */
final class SpeedTables {

	static final String GARBAGE = "gc.alloc.rate.norm";

	private final List<String> names;

	/** Results by number of callers and name of the contender, a map for each round. */
	private final Map<Integer, Map<String, List<Map<String, Double>>>> results = new TreeMap<>();

	/**
	 * Creates empty tables.
	 * @param names the contenders, in the order of the rows
	 */
	SpeedTables(List<String> names) {
		this.names = names;
	}

	/** Adds the results of a round. */
	void add(int callers, String name, Map<String, Double> result) {
		this.results.computeIfAbsent(callers, (number) -> new HashMap<>())
			.computeIfAbsent(name, (any) -> new ArrayList<>())
			.add(result);
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder("\n### To PING\n\n").append(comparison()).append('\n');
		this.results.keySet()
			.forEach((callers) -> text.append("\n### Callers: ")
				.append(callers)
				.append("\n\n")
				.append(details(callers))
				.append('\n'));
		return text.toString();
	}

	private MarkdownTable comparison() {
		List<String> headings = new ArrayList<>(List.of("contender"));
		this.results.keySet().forEach((callers) -> headings.add("callers: " + callers));
		headings.add("Redis CPU µs, most callers");
		MarkdownTable table = new MarkdownTable(headings.toArray(String[]::new));
		for (String name : this.names) {
			List<Object> row = new ArrayList<>(List.of(name));
			int most = 1;
			for (int callers : this.results.keySet()) {
				row.add(ratio(callers, name, RedisProfiler.DECISIONS, Contenders.PING));
				most = callers;
			}
			row.add(median(most, name, RedisProfiler.CPU));
			table.add(row.toArray());
		}
		return table;
	}

	private MarkdownTable details(int callers) {
		MarkdownTable table = new MarkdownTable("contender", "a second", "to INCR", "to EVALSHA", "p50 µs",
				"p50 to EVALSHA", "p99 µs", "Redis CPU µs", "CPU to INCR", "script µs", "garbage B", "reads",
				"unexpected", "commands");
		for (String name : this.names) {
			table.add(name, Math.round(median(callers, name, RedisProfiler.DECISIONS)),
					ratio(callers, name, RedisProfiler.DECISIONS, Contenders.INCR),
					ratio(callers, name, RedisProfiler.DECISIONS, Contenders.EVALSHA), median(callers, name, "p50"),
					ratio(callers, name, "p50", Contenders.EVALSHA), median(callers, name, "p99"),
					median(callers, name, RedisProfiler.CPU), ratio(callers, name, RedisProfiler.CPU, Contenders.INCR),
					median(callers, name, RedisProfiler.SCRIPT), Math.round(median(callers, name, GARBAGE)),
					two(median(callers, name, RedisProfiler.READS)),
					"%.2f %%".formatted(100 * median(callers, name, RedisProfiler.UNEXPECTED)),
					commands(callers, name));
		}
		return table;
	}

	private String commands(int callers, String name) {
		return rounds(callers, name).stream()
			.flatMap((round) -> round.keySet().stream())
			.filter((result) -> result.startsWith(RedisProfiler.COMMAND))
			.distinct()
			.sorted()
			.filter((result) -> median(callers, name, result) >= 0.005)
			.map((result) -> result.substring(RedisProfiler.COMMAND.length()) + " "
					+ two(median(callers, name, result)))
			.collect(Collectors.joining(", "));
	}

	private List<Map<String, Double>> rounds(int callers, String name) {
		return this.results.getOrDefault(callers, Map.of()).getOrDefault(name, List.of());
	}

	private double median(int callers, String name, String result) {
		return median(rounds(callers, name).stream().map((round) -> round.getOrDefault(result, 0.0)).toList());
	}

	/** Returns the median of the ratios; empty if the other was not measured. */
	private String ratio(int callers, String name, String result, String other) {
		List<Map<String, Double>> others = rounds(callers, other);
		List<Double> ratios = new ArrayList<>();
		for (int round = 0; round < others.size(); round++) {
			Double base = others.get(round).get(result);
			ratios.add(rounds(callers, name).get(round).getOrDefault(result, 0.0) / ((base != null) ? base : 1));
		}
		return ratios.isEmpty() ? "" : two(median(ratios));
	}

	private static double median(List<Double> numbers) {
		List<Double> sorted = numbers.stream().sorted().toList();
		int middle = sorted.size() / 2;
		return (sorted.size() % 2 == 1) ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
	}

	private static String two(double number) {
		return String.format(Locale.ROOT, "%.2f", number);
	}

}
