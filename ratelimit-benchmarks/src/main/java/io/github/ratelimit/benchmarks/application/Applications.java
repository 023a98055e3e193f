package io.github.ratelimit.benchmarks.application;

import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import io.github.ratelimit.benchmarks.MarkdownTable;
import io.github.ratelimit.benchmarks.MeasuredRedis;
import io.github.ratelimit.benchmarks.ServerSample;
import io.github.ratelimit.benchmarks.application.RunningApplication.Start;

/**
 * Puts whole applications under load, each in its own JVM, and prints tables:
 *
 * <pre>
 * mvn -q package -DskipTests -P applications -pl ratelimit-benchmarks -am -Drounds=3 -Dconnections=32,400 -Dseconds=10
 * </pre>
 *
 * It needs {@code wrk}, and starts a Redis server; the environment variable
 * {@code RATELIMIT_TEST_REDIS_SERVER} may name its program. In each round all
 * applications take turns. The first load, of twenty seconds, starts as soon as an
 * application answers: its wrong answers are counted, but its times are not measured.
 * With the arguments above it takes half an hour. Before, all applications take turns at
 * starting; with {@code -Dconnections=0} that is all.
 */
public final class Applications {

	/** All are compared with the first. */
	private static final List<Contender> CONTENDERS = List.of(Contender.of("no-limiter"), Contender.of("by-hand"),
			Contender.of("gateway"), Contender.of("bucket4j-starter"), Contender.of("ours"),
			new Contender("ours, ten policies", "ours", "ten-policies"),
			new Contender("ours, with features", "ours", "features"));

	/** After less, the first rounds show how code is compiled. */
	private static final int WARM_UP_SECONDS = 20;

	private final MeasuredRedis redis;

	private final Path folder;

	private final int seconds;

	private Applications(MeasuredRedis redis, Path folder, int seconds) {
		this.redis = redis;
		this.folder = folder;
		this.seconds = seconds;
	}

	/**
	 * Runs the measurements and prints the tables.
	 * @param arguments the folder of the applications, the number of rounds, the numbers
	 * of connections separated by commas, and the seconds of a load
	 * @throws IOException if an application cannot be started, or there is no {@code wrk}
	 */
	public static void main(String[] arguments) throws IOException {
		if (arguments.length != 4) {
			throw new IllegalArgumentException("Invalid arguments %s: must be folder, rounds, connections and seconds."
				.formatted(List.of(arguments)));
		}
		int rounds = Integer.parseInt(arguments[1]);
		int[] connections = Arrays.stream(arguments[2].split(",")).mapToInt(Integer::parseInt).toArray();
		try (MeasuredRedis redis = MeasuredRedis.startOwn()) {
			System.out.printf("%s, %s, %d CPU cores, Java %s%n", LocalDate.now(ZoneOffset.UTC), redis.version(),
					Runtime.getRuntime().availableProcessors(), Runtime.version().feature());
			Applications applications = new Applications(redis, Path.of(arguments[0]), Integer.parseInt(arguments[3]));
			System.out.printf("%n### start%n%n%s%n", applications.starts(rounds));
			for (int number : Arrays.stream(connections).filter((number) -> number > 0).toArray()) {
				for (Scenario scenario : List.of(Scenario.ALLOWED, Scenario.DENIED, Scenario.USED_UP)) {
					System.out.printf("%n### %s, %d connections%n%n%s%n", scenario.name(), number,
							applications.measure(scenario, number, rounds));
				}
			}
		}
	}

	private MarkdownTable starts(int rounds) throws IOException {
		Map<String, List<Start>> starts = new LinkedHashMap<>();
		for (int round = 0; round < rounds; round++) {
			for (Contender contender : CONTENDERS) {
				try (RunningApplication application = start(contender, Scenario.ALLOWED)) {
					starts.computeIfAbsent(contender.name(), (any) -> new ArrayList<>()).add(application.start());
				}
			}
		}
		MarkdownTable table = new MarkdownTable("application", "seconds", "CPU seconds");
		starts.forEach((name, all) -> table.add(name, seconds(all, Start::seconds), seconds(all, Start::cpuSeconds)));
		return table;
	}

	private static String seconds(List<Start> starts, ToDoubleFunction<Start> number) {
		return String.format(Locale.ROOT, "%.2f", ApplicationTable.median(starts, number));
	}

	private RunningApplication start(Contender contender, Scenario scenario) throws IOException {
		return RunningApplication.start(this.folder.resolve(contender.folder()), contender.profile(), this.redis.uri(),
				scenario);
	}

	private ApplicationTable measure(Scenario scenario, int connections, int rounds) throws IOException {
		ApplicationTable table = new ApplicationTable(CONTENDERS.stream().map(Contender::name).toList());
		Map<String, RunningApplication> running = new LinkedHashMap<>();
		try {
			for (Contender contender : CONTENDERS) {
				this.redis.client().flushDB();
				RunningApplication application = start(contender, scenario);
				running.put(contender.name(), application);
				table.addCold(contender.name(),
						scenario.wrong(load(application, scenario, connections, WARM_UP_SECONDS)));
			}
			for (int round = 0; round < rounds; round++) {
				for (Map.Entry<String, RunningApplication> each : running.entrySet()) {
					table.add(each.getKey(), measure(each.getValue(), scenario, connections));
				}
			}
		}
		finally {
			running.values().forEach(RunningApplication::close);
		}
		return table;
	}

	private Sample measure(RunningApplication application, Scenario scenario, int connections) throws IOException {
		this.redis.client().flushDB();
		ServerSample before = ServerSample.take(this.redis.client());
		long cpu = application.cpuMicros();
		Load load = load(application, scenario, connections, this.seconds);
		return new Sample(load, application.cpuMicros() - cpu, ServerSample.take(this.redis.client()).since(before),
				scenario.wrong(load));
	}

	private Load load(RunningApplication application, Scenario scenario, int connections, int seconds)
			throws IOException {
		return Load.run(this.folder.resolve("users.lua"), application.port(), connections, seconds, scenario.users());
	}

	/**
	 * An application.
	 *
	 * @param name the name in the tables
	 * @param profile the profile of its configuration
	 */
	private record Contender(String name, String folder, String profile) {

		static Contender of(String folder) {
			return new Contender(folder, folder, "default");
		}

	}

	/**
	 * One load.
	 *
	 * @param jvmMicros CPU time of the application
	 * @param redis the work of Redis
	 * @param wrong number of wrong answers
	 */
	record Sample(Load load, long jvmMicros, ServerSample redis, long wrong) {

		double jvmMicrosPerRequest() {
			return this.jvmMicros / (double) this.load.requests();
		}

		double redisMicrosPerRequest() {
			return this.redis.cpuMicros() / (double) this.load.requests();
		}

	}

}
