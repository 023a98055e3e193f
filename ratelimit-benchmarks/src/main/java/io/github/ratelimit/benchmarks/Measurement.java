package io.github.ratelimit.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures what calls cost a Redis server, by its own statistics. All subjects take turns
 * in several rounds, so that whatever else the machine does falls on all of them alike,
 * and the lower quartile of the rounds counts.
 */
final class Measurement {

	private final MeasuredRedis redis;

	private final int rounds;

	private final int calls;

	/**
	 * Creates a measurement.
	 * @param redis the server
	 * @param rounds how many rounds count; one more comes before them, to warm up
	 * @param calls how many calls of each subject are made in a round
	 */
	Measurement(MeasuredRedis redis, int rounds, int calls) {
		this.redis = redis;
		this.rounds = rounds;
		this.calls = calls;
	}

	/**
	 * Measures subjects side by side.
	 * @return the cost of each, in the same order
	 */
	List<Cost> run(List<Subject> subjects) {
		List<List<CommandStatistics>> samples = new ArrayList<>();
		subjects.forEach((subject) -> samples.add(new ArrayList<>()));
		for (int round = 0; round <= this.rounds; round++) {
			for (int s = 0; s < subjects.size(); s++) {
				CommandStatistics sample = sample(subjects.get(s), round);
				if (round > 0) {
					samples.get(s).add(sample);
				}
			}
		}
		List<Cost> costs = new ArrayList<>();
		for (int s = 0; s < subjects.size(); s++) {
			costs.add(cost(subjects.get(s).command(), samples.get(s)));
		}
		return costs;
	}

	private CommandStatistics sample(Subject subject, int round) {
		CommandStatistics before = this.redis.statistics();
		for (int i = 0; i < this.calls; i++) {
			subject.call().accept(round * this.calls + i);
		}
		return this.redis.statistics().since(before);
	}

	private Cost cost(String command, List<CommandStatistics> samples) {
		double[] micros = samples.stream().mapToDouble((sample) -> sample.command(command).microsPerCall()).toArray();
		CommandStatistics last = samples.get(samples.size() - 1);
		return new Cost(lowerQuartile(micros), (double) last.callsInScripts() / last.command(command).calls());
	}

	/**
	 * Returns the lower quartile: what disturbs a measurement only ever adds to it.
	 */
	static double lowerQuartile(double... numbers) {
		double[] sorted = numbers.clone();
		Arrays.sort(sorted);
		return sorted[(sorted.length - 1) / 4];
	}

	/**
	 * What one call costs.
	 *
	 * @param micros time of the server in microseconds
	 * @param commands commands that the script calls
	 */
	record Cost(double micros, double commands) {

	}

}
