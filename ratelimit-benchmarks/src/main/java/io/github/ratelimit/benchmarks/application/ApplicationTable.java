package io.github.ratelimit.benchmarks.application;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import io.github.ratelimit.benchmarks.MarkdownTable;
import io.github.ratelimit.benchmarks.application.Applications.Sample;

/**
 * The medians of the loads of all rounds, as a table in Markdown. Ratios and differences
 * are calculated within a round.
 */
final class ApplicationTable {

	private final List<String> names;

	private final Map<String, List<Sample>> samples = new HashMap<>();

	private final Map<String, Long> cold = new HashMap<>();

	/**
	 * Creates an empty table.
	 * @param names the applications; all are compared with the first
	 */
	ApplicationTable(List<String> names) {
		this.names = names;
	}

	void addCold(String name, long wrong) {
		this.cold.put(name, wrong);
	}

	void add(String name, Sample sample) {
		this.samples.computeIfAbsent(name, (any) -> new ArrayList<>()).add(sample);
	}

	@Override
	public String toString() {
		MarkdownTable table = new MarkdownTable("application", "requests a second", "ratio", "p50 ms", "p99 ms",
				"JVM µs a request", "added", "Redis µs a request", "wrong", "wrong, cold", "unanswered");
		List<Sample> base = rounds(this.names.get(0));
		for (String name : this.names) {
			List<Sample> rounds = rounds(name);
			double[] ratios = new double[rounds.size()];
			double[] added = new double[rounds.size()];
			for (int r = 0; r < ratios.length; r++) {
				ratios[r] = rounds.get(r).load().requestsPerSecond() / base.get(r).load().requestsPerSecond();
				added[r] = rounds.get(r).jvmMicrosPerRequest() - base.get(r).jvmMicrosPerRequest();
			}
			boolean limited = base != rounds;
			table.add(name, Math.round(median(rounds, (sample) -> sample.load().requestsPerSecond())),
					String.format(Locale.ROOT, "%.2f", median(ratios)),
					median(rounds, (sample) -> sample.load().p50() / 1000.0),
					median(rounds, (sample) -> sample.load().p99() / 1000.0),
					median(rounds, Sample::jvmMicrosPerRequest), median(added),
					median(rounds, Sample::redisMicrosPerRequest),
					limited ? rounds.stream().mapToLong(Sample::wrong).sum() : "",
					limited ? this.cold.getOrDefault(name, 0L) : "",
					rounds.stream().mapToLong((sample) -> sample.load().broken()).sum());
		}
		return table.toString();
	}

	private List<Sample> rounds(String name) {
		return this.samples.getOrDefault(name, List.of());
	}

	static <T> double median(List<T> rounds, ToDoubleFunction<T> number) {
		return median(rounds.stream().mapToDouble(number).toArray());
	}

	private static double median(double... numbers) {
		double[] sorted = numbers.clone();
		Arrays.sort(sorted);
		return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
	}

}
