package io.github.ratelimit.benchmarks.speed;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import io.github.ratelimit.benchmarks.MeasuredRedis;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;

/**
 * Measures with JMH how fast all contenders decide on one Redis, and prints tables:
 *
 * <pre>
 * mvn -q compile -P speed -pl ratelimit-benchmarks -am -Drounds=3 -Dcallers=1,8,64 -Dseconds=3 -Dcontenders=.*
 * </pre>
 *
 * It starts a Redis server; the environment variable {@code RATELIMIT_TEST_REDIS_SERVER}
 * may name its program. In each round all contenders take turns, each in its own JVM, so
 * that other load on the machine affects all of them. Ratios are calculated within a
 * round; the result is the median of the rounds.
 */
public final class Speed {

	/** After less, many callers show how code is compiled. */
	private static final TimeValue WARM_UP = TimeValue.seconds(6);

	private final MeasuredRedis redis;

	private final TimeValue warmUp;

	private final TimeValue time;

	private final int forks;

	/**
	 * Creates a measurement.
	 * @param redis the server
	 * @param warmUp how long to warm up
	 * @param time duration of each iteration
	 * @param forks 1, or 0 to measure in this JVM, which is less accurate
	 */
	Speed(MeasuredRedis redis, TimeValue warmUp, TimeValue time, int forks) {
		this.redis = redis;
		this.warmUp = warmUp;
		this.time = time;
		this.forks = forks;
	}

	/**
	 * Runs the measurements and prints the tables.
	 * @param arguments the number of rounds, the numbers of callers separated by commas,
	 * the seconds of an iteration, and a regular expression for the names of contenders
	 * @throws RunnerException if JMH fails
	 */
	public static void main(String[] arguments) throws RunnerException {
		if (arguments.length != 4) {
			throw new IllegalArgumentException("Invalid arguments %s: must be rounds, callers, seconds and contenders."
				.formatted(List.of(arguments)));
		}
		int rounds = Integer.parseInt(arguments[0]);
		int[] callers = Arrays.stream(arguments[1].split(",")).mapToInt(Integer::parseInt).toArray();
		Pattern pattern = Pattern.compile(arguments[3]);
		List<String> names = Contenders.names().stream().filter((name) -> pattern.matcher(name).find()).toList();
		try (MeasuredRedis redis = MeasuredRedis.startOwn()) {
			System.out.printf("%s, %s, %d CPU cores, Java %s%n", LocalDate.now(ZoneOffset.UTC), redis.version(),
					Runtime.getRuntime().availableProcessors(), Runtime.version().feature());
			Speed speed = new Speed(redis, WARM_UP, TimeValue.seconds(Long.parseLong(arguments[2])), 1);
			SpeedTables tables = new SpeedTables(names);
			for (int round = 0; round < rounds; round++) {
				for (int number : callers) {
					for (String name : names) {
						Map<String, Double> result = speed.measure(name, number);
						System.out.printf("round %d, %d callers, %s: %,.0f/s%n", round + 1, number, name,
								result.get(RedisProfiler.DECISIONS));
						tables.add(number, name, result);
					}
				}
			}
			System.out.println(tables);
		}
	}

	/**
	 * Measures one contender.
	 * @return the results by name
	 */
	Map<String, Double> measure(String name, int callers) throws RunnerException {
		ChainedOptionsBuilder options = new OptionsBuilder()
			.include(Pattern.quote(DecisionBenchmark.class.getName() + ".decide"))
			.param("name", name)
			.mode(Mode.SampleTime)
			.timeUnit(java.util.concurrent.TimeUnit.MICROSECONDS)
			.threads(callers)
			.forks(this.forks)
			.warmupIterations(1)
			.warmupTime(this.warmUp)
			.measurementIterations(2)
			.measurementTime(this.time)
			.addProfiler(RedisProfiler.class)
			.addProfiler(GCProfiler.class)
			.verbosity(VerboseMode.SILENT)
			.jvmArgsAppend("-Xmx1g", "-D" + DecisionBenchmark.SERVER + "=" + this.redis.uri());
		RunResult run = new Runner(options.build()).runSingle();
		Map<String, Double> results = new HashMap<>();
		run.getSecondaryResults().forEach((label, result) -> results.put(label, result.getScore()));
		Statistics times = run.getPrimaryResult().getStatistics();
		results.put("p50", times.getPercentile(50));
		results.put("p99", times.getPercentile(99));
		return results;
	}

}
