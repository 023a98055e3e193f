package io.github.ratelimit.benchmarks.gates;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.benchmarks.MeasuredRedis;
import io.github.ratelimit.benchmarks.OurLimiters;
import io.github.ratelimit.benchmarks.ServerSample;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many commands and round trips a decision takes.
 */
class CommandsIT {

	private static final int DECISIONS = 60;

	private static final int CALLERS = 64;

	private static final Duration BUDGET = Duration.ofMinutes(1);

	/** After so many nanoseconds a connection is verified before a decision. */
	private static final long REST = TimeUnit.SECONDS.toNanos(1);

	/** Scripts that callers share may be fewer than their decisions, and never more. */
	private static final double SCRIPTS_AMONG_CALLERS = 0.5;

	/** Some connections may be made while they are counted, which is read as well. */
	private static final double READS_AMONG_CALLERS = 0.5;

	@AutoClose
	private static final MeasuredRedis REDIS = MeasuredRedis.startOwn();

	/**
	 * A second connection would be verified when it has rested, whichever decision gets
	 * it.
	 */
	@AutoClose
	private static final OurLimiters LIMITERS = OurLimiters.connect(REDIS.uri(), BUDGET, 1);

	static Stream<String> names() {
		return Gates.allowing().keySet().stream();
	}

	@ParameterizedTest
	@MethodSource("names")
	void allowedDecisionReadsAndWritesInOneRoundTrip(String name) {
		int keys = name.equals(Gates.SEVERAL) ? 2 : 1;
		assertThat(cost(LIMITERS.scripts(), Gates.allowing().get(name), true))
			.isEqualTo(Map.of("round trips", 1.0, "evalsha", 1.0, "time", 1.0, "mget", 1.0, "set", (double) keys));
	}

	@ParameterizedTest
	@MethodSource("names")
	void deniedDecisionOnlyReadsInOneRoundTrip(String name) {
		assertThat(cost(LIMITERS.scripts(), Gates.denying().get(name), false))
			.isEqualTo(Map.of("round trips", 1.0, "evalsha", 1.0, "time", 1.0, "mget", 1.0));
	}

	@Test
	void plainCommandsTakeOneRoundTrip() {
		Policy policy = Policy.of("plain", new FixedWindow(), Limit.parse("100/7d"));
		assertThat(cost(LIMITERS.plainCommands(), policy, true)).containsEntry("round trips", 1.0);
	}

	@Test
	void callersTogetherTakeNoMoreThanOneByOne() {
		Policy policy = Policy.of("together", new FixedWindow(), Limit.parse("10000/7d"));
		try (OurLimiters together = OurLimiters.connect(REDIS.uri(), BUDGET)) {
			RateLimiter limiter = together.scripts();
			// All connections are made before anything is counted.
			Gates.decideTogether(limiter, policy, CALLERS, DECISIONS);
			ServerSample before = ServerSample.take(REDIS.client());
			Gates.decideTogether(limiter, policy, CALLERS, DECISIONS);
			ServerSample done = ServerSample.take(REDIS.client()).since(before);
			double decisions = CALLERS * DECISIONS;
			assertThat(done.commands().command("evalsha").calls() / decisions)
				.isLessThanOrEqualTo(SCRIPTS_AMONG_CALLERS);
			assertThat(done.reads() / decisions).isLessThanOrEqualTo(READS_AMONG_CALLERS);
		}
	}

	/** Commands and round trips of one decision, by name. */
	private static Map<String, Double> cost(RateLimiter limiter, Policy policy, boolean allowed) {
		Gates.prepare(limiter, policy);
		long last = System.nanoTime();
		Gates.decide(limiter, policy, 1, allowed);
		ServerSample before = ServerSample.take(REDIS.client());
		int rests = decide(limiter, policy, allowed, last);
		ServerSample done = ServerSample.take(REDIS.client()).since(before);
		Map<String, Long> calls = done.commands()
			.commands()
			.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (entry) -> entry.getValue().calls(), (one, other) -> one,
					TreeMap::new));
		long verified = Math.min(rests, calls.getOrDefault("ping", 0L));
		calls.computeIfPresent("ping", (name, pings) -> (pings > verified) ? pings - verified : null);
		calls.put("round trips", done.reads() - verified);
		Map<String, Double> cost = new TreeMap<>();
		calls.forEach((name, count) -> cost.put(name, count / (double) DECISIONS));
		return cost;
	}

	/**
	 * Makes decisions, and returns how often the machine took so long for two of them
	 * that the connection may have been verified, which costs a {@code PING}.
	 * @param last when the decision before began
	 */
	private static int decide(RateLimiter limiter, Policy policy, boolean allowed, long last) {
		int rests = 0;
		for (int i = 0; i < DECISIONS; i++) {
			long start = System.nanoTime();
			Gates.decide(limiter, policy, 1, allowed);
			if (System.nanoTime() - last >= REST) {
				rests++;
			}
			last = start;
		}
		return rests;
	}

}
