package io.github.ratelimit.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.benchmarks.Measurement.Cost;

import static java.time.ZoneOffset.UTC;

/**
 * How the cost of a decision grows with the quota, and with the time that an identifier
 * was idle.
 */
final class GrowthCost {

	private static final Instant START = Instant.parse("2026-03-01T12:00:00.5Z");

	private static final int ROUNDS = 9;

	private static final int LOG_CALLS = 200;

	private static final List<Integer> ENTRIES = List.of(10, 100, 1000, 10_000);

	private static final int IDLE_CALLS = 100;

	/** Requests before an identifier is idle, two seconds apart. */
	private static final int REQUESTS = 20;

	private static final List<Duration> IDLE = List.of(Duration.ofSeconds(2), Duration.ofSeconds(40),
			Duration.ofHours(1), Duration.ofDays(365));

	private final MeasuredRedis redis;

	private final OurLimiters limiters;

	GrowthCost(MeasuredRedis redis, OurLimiters limiters) {
		this.redis = redis;
		this.limiters = limiters;
	}

	/**
	 * Measures a full log, and one that has just dropped its oldest entry and adds a new
	 * one.
	 * @return a table by size of the quota
	 */
	MarkdownTable byQuota() {
		SettableClock clock = new SettableClock(START);
		RateLimiter limiter = this.limiters.scripts(clock);
		List<Subject> subjects = new ArrayList<>();
		for (int entries : ENTRIES) {
			Policy policy = Policy.of("log" + entries, new SlidingLog(), new Limit(entries, Duration.ofHours(1)));
			Duration pause = Duration.ofHours(1).dividedBy(entries);
			for (int i = 0; i < entries; i++) {
				clock.set(START.plus(pause.multipliedBy(i)));
				require(limiter.tryAcquire(policy, user(0)).allowed(), true);
			}
			Instant full = clock.instant();
			subjects.add(new Subject("evalsha", (i) -> {
				clock.set(full);
				require(limiter.tryAcquire(policy, user(0)).allowed(), false);
			}));
			Instant[] next = { START.plus(Duration.ofHours(1)) };
			subjects.add(new Subject("evalsha", (i) -> {
				if (i == 0) {
					fill(limiter, clock, policy, pause, entries);
				}
				clock.set(next[0]);
				next[0] = next[0].plus(pause);
				require(limiter.tryAcquire(policy, user(1)).allowed(), true);
			}));
		}
		List<Cost> costs = new Measurement(this.redis, ROUNDS, LOG_CALLS).run(subjects);
		MarkdownTable table = new MarkdownTable("`sliding-log` with", "µs, denied", "µs, allowed");
		for (int e = 0; e < ENTRIES.size(); e++) {
			table.add("%,d entries".formatted(ENTRIES.get(e)), costs.get(2 * e).micros(),
					costs.get(2 * e + 1).micros());
		}
		return table;
	}

	private static void fill(RateLimiter limiter, SettableClock clock, Policy policy, Duration pause, int entries) {
		for (int i = 0; i < entries; i++) {
			clock.set(START.plus(pause.multipliedBy(i)));
			require(limiter.tryAcquire(policy, user(1)).allowed(), true);
		}
	}

	/**
	 * Measures the first request after different idle times.
	 * @return a table by idle time, for a window of a minute
	 */
	MarkdownTable byIdleTime() {
		List<Algorithm> algorithms = Stream.concat(Algorithms.all().stream(), Stream.of(new FixedWindow(24, UTC)))
			.toList();
		MarkdownTable table = new MarkdownTable("algorithm", "µs after 2 s", "40 s", "1 h", "365 d");
		for (Algorithm algorithm : algorithms) {
			Policy policy = Policy.of("idle", algorithm, Limit.parse("100/m"));
			double[] micros = IDLE.stream().mapToDouble((idle) -> afterIdleTime(policy, idle)).toArray();
			String name = (algorithm instanceof FixedWindow window && window.retain() > 1)
					? "`fixed-window`, `retain: 24`" : '`' + algorithm.name() + '`';
			table.add(name, micros[0], micros[1], micros[2], micros[3]);
		}
		return table;
	}

	/** Each identifier is idle once, so that its first request is measured. */
	private double afterIdleTime(Policy policy, Duration idle) {
		SettableClock clock = new SettableClock(START);
		RateLimiter limiter = this.limiters.scripts(clock);
		limiter.peek(RateLimitRequest.of(policy, user(0)));
		double[] samples = new double[ROUNDS];
		for (int round = 0; round < ROUNDS; round++) {
			this.redis.clear();
			for (int i = 0; i < IDLE_CALLS * REQUESTS; i++) {
				clock.set(START.plusSeconds(2 * (i / IDLE_CALLS)));
				require(limiter.tryAcquire(policy, user(i % IDLE_CALLS)).allowed(), true);
			}
			clock.advance(idle);
			CommandStatistics before = this.redis.statistics();
			for (int i = 0; i < IDLE_CALLS; i++) {
				require(limiter.tryAcquire(policy, user(i)).allowed(), true);
			}
			samples[round] = this.redis.statistics().since(before).command("evalsha").microsPerCall();
		}
		return Measurement.lowerQuartile(samples);
	}

	private static Identifier user(int number) {
		return Identifier.user(Integer.toString(number));
	}

	private static void require(boolean allowed, boolean expected) {
		if (allowed != expected) {
			throw new IllegalStateException("A request was " + (allowed ? "allowed" : "denied"));
		}
	}

}
