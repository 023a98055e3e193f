package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What clocks do to decisions without scripts: those of machines that differ, requests
 * that overtake others, and a clock that is set back. The time budget is five seconds, so
 * that requests half a second longer ahead may have been made now.
 */
class PipelineClockIT extends PipelineFixture {

	private static final long CLOCK_DIFFERENCE_MICROS = 500_000;

	private static final long LATENESS_MICROS = 500_000;

	private static final int SEQUENCES = 150;

	private static final int REQUESTS = 80;

	private static final Duration STEP = Duration.ofMillis(500);

	private final RateLimiter clockedPlain = this.plain.withClock(this.clock);

	/** Each algorithm with the most that it admits of a quota of 5. */
	static Stream<Arguments> bounds() {
		return Stream.of(Arguments.of(new SlidingWindow(), 1, 0),
				Arguments.of(new SlidingWindow(Duration.ofMillis(100)), 1, 0),
				Arguments.of(new SlidingWindowCounter(), 2, 1), Arguments.of(new FixedWindow(), 2, 0));
	}

	@ParameterizedTest
	@MethodSource("bounds")
	void noTrafficIsAdmittedBeyondTheBoundWhateverTheOrder(Algorithm algorithm, int quotas, int less) {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(algorithm, seed);
			List<Request> admitted = traffic.send();
			for (Limit limit : traffic.policy.limits()) {
				long bound = quotas * limit.quota() - less;
				assertThat(mostInAnyStretch(admitted, Request::at, limit.windowMicros()))
					.as("seed %d: most in any %s of %s", seed, limit.windowText(), traffic.policy)
					.isLessThanOrEqualTo(bound);
				assertThat(mostInAnyStretch(admitted, Request::sent, limit.windowMicros() - CLOCK_DIFFERENCE_MICROS))
					.as("seed %d: most in any %s of %s by one clock", seed, limit.windowText(), traffic.policy)
					.isLessThanOrEqualTo(bound);
			}
		}
	}

	/** Most that was used in any half-open stretch of the length. */
	private static long mostInAnyStretch(List<Request> requests, ToLongFunction<Request> time, long length) {
		List<Request> sorted = (length > 0) ? requests.stream().sorted(Comparator.comparingLong(time)).toList()
				: List.of();
		long most = 0;
		long used = 0;
		int first = 0;
		for (Request request : sorted) {
			used += request.cost;
			while (time.applyAsLong(request) - time.applyAsLong(sorted.get(first)) >= length) {
				used -= sorted.get(first).cost;
				first++;
			}
			most = Math.max(most, used);
		}
		return most;
	}

	static Stream<Arguments> denials() {
		return Stream.of(Arguments.of(new FixedWindow(), 1, "12:00:00", "12:01:00"),
				Arguments.of(new SlidingWindow(), 1, "12:00:14.500", "12:01:21"),
				Arguments.of(new SlidingWindow(Duration.ofSeconds(10)), 1, "12:00:14.500", "12:01:30"),
				Arguments.of(new SlidingWindowCounter(), 1, "11:59:54.500", "12:01:12"),
				Arguments.of(new SlidingWindowCounter(), 5, "11:59:54.500", "12:02:00"));
	}

	@ParameterizedTest
	@MethodSource("denials")
	void whatWasUsedCountsAgainAroundItsTime(Algorithm algorithm, long cost, String first, String end) {
		Policy policy = policy(algorithm, "5/m");
		this.clock.set("2026-03-01T12:00:20Z");
		this.clockedPlain.tryAcquire(policy, ALICE, 5);
		this.clock.set("2026-03-01T11:58:00Z");
		List<Instant> denied = new ArrayList<>();
		while (this.clock.instant().isBefore(Instant.parse("2026-03-01T12:04:00Z"))) {
			if (!this.clockedPlain.peek(request(policy, cost)).allowed()) {
				denied.add(this.clock.instant());
			}
			this.clock.advance(STEP);
		}
		Instant start = time(first);
		assertThat(denied).containsExactlyElementsOf(
				Stream.iterate(start, (at) -> at.isBefore(time(end)), (at) -> at.plus(STEP)).toList());
	}

	private static Instant time(String time) {
		return Instant.parse("2026-03-01T" + time + "Z");
	}

	@Test
	void firstRequestWindowDecidesAsInMemoryByAnyClock() {
		for (int seed = 0; seed < 50; seed++) {
			Random random = new Random(seed);
			Policy policy = policy("api" + seed, new FirstRequestWindow(), "5/m").withCountDenied(random.nextBoolean());
			RateLimiter memory = new MemoryRateLimiter(this.clock);
			for (int i = 0; i < 40; i++) {
				this.clock.advance(Duration.ofMillis(random.nextInt(-100_000, 100_000)));
				long cost = 1 + random.nextInt(5);
				assertThat(this.clockedPlain.tryAcquire(policy, ALICE, cost)).as("seed %d, request %d", seed, i)
					.isEqualTo(memory.tryAcquire(policy, ALICE, cost));
			}
		}
	}

	/** As it is when the clock of the server was set back. */
	@Test
	void overlongFirstRequestWindowLastsOneWindowMore() {
		Policy policy = policy(new FirstRequestWindow(), "5/h");
		this.plain.tryAcquire(policy, ALICE, 5);
		String key = keys().iterator().next();
		this.jedis.pexpire(key, Duration.ofDays(1).toMillis());
		assertThat(this.plain.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofHours(1));
		assertThat(this.jedis.pttl(key)).isBetween(3_000_000L, 3_600_000L);
	}

	/**
	 * An allowed request.
	 *
	 * @param at its time, in microseconds, by the clock of its machine
	 * @param sent the same moment by one clock for all
	 */
	private record Request(long at, long sent, long cost) {

	}

	/**
	 * Random requests of machines whose clocks differ by up to half a second, each of
	 * which reaches Redis up to half a second after its time.
	 */
	private static final class Traffic {

		private static final List<String> WINDOWS = List.of("200ms", "s", "3s", "m");

		private final List<ManualClock> clocks = Stream.generate(() -> new ManualClock("2026-03-01T12:00:59Z"))
			.limit(3)
			.toList();

		private final List<PipelineRateLimiter> limiters;

		private final Random random;

		private final Policy policy;

		private Instant now = Instant.parse("2026-03-01T12:00:58.9Z");

		private Traffic(Algorithm algorithm, int seed) {
			this.random = new Random(seed);
			String keyPrefix = TestRedis.newKeyPrefix();
			this.limiters = this.clocks.stream().map((clock) -> create(keyPrefix).withClock(clock)).toList();
			String window = WINDOWS.get(this.random.nextInt(WINDOWS.size()));
			this.policy = Policy.of("api", algorithm, Limit.parse((1 + this.random.nextInt(6)) + "/" + window));
		}

		private List<Request> send() {
			long window = this.policy.limits().get(0).windowMicros();
			boolean weighted = this.random.nextBoolean();
			long[] ahead = IntStream.range(0, 3)
				.mapToLong((machine) -> this.random.nextLong(CLOCK_DIFFERENCE_MICROS + 1))
				.toArray();
			List<Request> admitted = new ArrayList<>();
			for (int i = 0; i < REQUESTS; i++) {
				int machine = this.random.nextInt(3);
				long late = this.random.nextBoolean() ? 0 : this.random.nextLong(LATENESS_MICROS + 1);
				Instant at = this.now.plus(ahead[machine] - late, ChronoUnit.MICROS);
				this.clocks.get(machine).set(at.toString());
				long cost = weighted ? 1 + this.random.nextInt((int) this.policy.limits().get(0).quota()) : 1;
				// One that was overtaken has read its clock before, which was not set
				// back.
				RateLimiter limiter = (late == 0) ? this.limiters.get(machine)
						: this.limiters.get(machine).withClock(this.clocks.get(machine));
				if (limiter.tryAcquire(this.policy, ALICE, cost).allowed()) {
					long micros = ChronoUnit.MICROS.between(Instant.EPOCH, at);
					admitted.add(new Request(micros, micros - ahead[machine], cost));
				}
				this.now = this.now.plus(pause(window), ChronoUnit.MICROS);
			}
			return admitted;
		}

		private long pause(long window) {
			long now = ChronoUnit.MICROS.between(Instant.EPOCH, this.now);
			return switch (this.random.nextInt(12)) {
				case 0 -> this.random.nextLong(window);
				case 1 -> window - this.random.nextLong(1 + Math.min(window, 1_000_000));
				case 2 -> this.random.nextLong(1 + window / 20);
				// Around the edge of a window, when all is forgotten.
				case 3 -> 4 * window - now % window - this.random.nextLong(Math.min(window, 1_000_000));
				default -> 0;
			};
		}

	}

}
