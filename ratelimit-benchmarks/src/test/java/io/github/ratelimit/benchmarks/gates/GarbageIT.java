package io.github.ratelimit.benchmarks.gates;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import com.sun.management.ThreadMXBean;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.benchmarks.MeasuredRedis;
import io.github.ratelimit.benchmarks.OurLimiters;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many bytes of garbage a decision makes: what all threads of this process allocate,
 * in the round in which it was least, because the compiler and other tests only add to
 * it.
 */
class GarbageIT {

	private static final Logger logger = LoggerFactory.getLogger(GarbageIT.class);

	private static final int WARM_UP = 5000;

	/** The least of many shows the code as it is compiled in the end. */
	private static final int ROUNDS = 15;

	private static final int DECISIONS = 400;

	/** Upper bound in bytes, with room for other JVMs. */
	private static final long MOST = 2500;

	private static final long MOST_FOR_SEVERAL = 3400;

	private static final long MOST_BY_PLAIN_COMMANDS = 13_500;

	private static final long MOST_DENIED_FROM_MEMORY = 700;

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	@AutoClose
	private static final MeasuredRedis REDIS = MeasuredRedis.startOwn();

	@AutoClose
	private static final OurLimiters LIMITERS = OurLimiters.connect(REDIS.uri(), Duration.ofMinutes(1));

	/** What is common to all is compiled first, whichever is measured first. */
	@BeforeAll
	static void warmUp() {
		Gates.allowing().values().forEach((policy) -> Gates.decide(LIMITERS.scripts(), policy, WARM_UP, true));
	}

	static Stream<String> names() {
		return Gates.allowing().keySet().stream();
	}

	@ParameterizedTest
	@MethodSource("names")
	void decisionMakesLittleGarbage(String name) {
		RateLimiter limiter = LIMITERS.scripts();
		long bytes = garbage(limiter, Gates.allowing().get(name), true);
		logger.info("{}: {} bytes of garbage a decision", name, bytes);
		assertThat(bytes).isLessThanOrEqualTo(name.equals(Gates.SEVERAL) ? MOST_FOR_SEVERAL : MOST);
	}

	@Test
	void plainCommandsMakeLittleGarbage() {
		Policy policy = Policy.of("plain", new FixedWindow(), Limit.parse("1000/7d"));
		long bytes = garbage(LIMITERS.plainCommands(), policy, true);
		logger.info("plain commands: {} bytes of garbage a decision", bytes);
		assertThat(bytes).isLessThanOrEqualTo(MOST_BY_PLAIN_COMMANDS);
	}

	@Test
	void denialFromMemoryMakesLittleGarbage() {
		RateLimiter limiter = LIMITERS.wholeStack();
		Policy policy = Policy.of("denied-from-memory", new FixedWindow(), Limit.parse("1/7d"));
		Gates.prepare(limiter, policy);
		long bytes = garbage(limiter, policy, false);
		logger.info("denied from memory: {} bytes of garbage a decision", bytes);
		assertThat(bytes).isLessThanOrEqualTo(MOST_DENIED_FROM_MEMORY);
	}

	private static long garbage(RateLimiter limiter, Policy policy, boolean allowed) {
		Gates.decide(limiter, policy, WARM_UP, allowed);
		return IntStream.range(0, ROUNDS).mapToLong((round) -> {
			long before = allocated();
			Gates.decide(limiter, policy, DECISIONS, allowed);
			return (allocated() - before) / DECISIONS;
		}).min().orElseThrow();
	}

	/** A thread that has ended says -1. */
	private static long allocated() {
		return LongStream.of(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
			.filter((bytes) -> bytes > 0)
			.sum();
	}

}
