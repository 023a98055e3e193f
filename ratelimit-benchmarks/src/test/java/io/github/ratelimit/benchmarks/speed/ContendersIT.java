package io.github.ratelimit.benchmarks.speed;

import java.util.Map;
import java.util.stream.Stream;

import io.github.ratelimit.benchmarks.MeasuredRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.TimeValue;

import static org.assertj.core.api.Assertions.assertThat;

class ContendersIT {

	private static MeasuredRedis redis;

	@BeforeAll
	static void start() {
		// Whether a busy machine decides in time is not asked here.
		System.setProperty(OurContenders.BUDGET, "PT1M");
		redis = MeasuredRedis.startOwn();
	}

	@AfterAll
	static void stop() {
		System.clearProperty(OurContenders.BUDGET);
		redis.close();
	}

	static Stream<String> names() {
		return Contenders.names().stream();
	}

	@ParameterizedTest
	@MethodSource("names")
	void contenderAnswersAsExpected(String name) {
		try (Contender contender = Contenders.create(name, redis.uri())) {
			for (int i = 0; i < 20; i++) {
				assertThat(contender.decide("user-" + i % 10)).isTrue();
			}
		}
	}

	@Test
	void measurementSaysWhatDecisionsCost() throws RunnerException {
		// Another measurement on the same machine does not matter here.
		System.setProperty("jmh.ignoreLock", "true");
		System.setProperty(DecisionBenchmark.SERVER, redis.uri().toString());
		Map<String, Double> result = new Speed(redis, TimeValue.milliseconds(200), TimeValue.milliseconds(100), 0)
			.measure(Contenders.INCR, 1);
		System.clearProperty(DecisionBenchmark.SERVER);
		assertThat(result).containsEntry(RedisProfiler.UNEXPECTED, 0.0)
			.containsKeys(RedisProfiler.DECISIONS, RedisProfiler.CPU, "p50", "p99", SpeedTables.GARBAGE);
		assertThat(result.get(RedisProfiler.COMMAND + "incr")).isEqualTo(1.0);
	}

}
