package io.github.ratelimit.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures the cost of calls for a Redis server, by the statistics of the server. All
 * subjects take turns in several rounds, so that other load on the machine affects all of
 * them alike. The result is the lower quartile of the rounds.
 */
final class Measurement {

	private final MeasuredRedis redis;

	private final int rounds;

	private final int calls;

	/**
	 * Creates a measurement.
	 * @param redis the server
	 * @param rounds number of rounds, after one more for warm-up
	 * @param calls number of calls of each subject in a round
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
	 * Returns the lower quartile, because disturbances only increase a measurement.
	 */
	static double lowerQuartile(double... numbers) {
		double[] sorted = numbers.clone();
		Arrays.sort(sorted);
		return sorted[(sorted.length - 1) / 4];
	}

	/**
	 * The cost of one call.
	 *
	 * @param micros server time in microseconds
	 * @param commands commands that the script calls
	 */
	record Cost(double micros, double commands) {

	}

}
