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
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bounds without scripts when requests reach Redis in another order than that of
 * their times: the clocks of machines differ, or one request overtakes another.
 */
class PipelineBoundIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final long CLOCK_DIFFERENCE_MICROS = 500_000;

	private static final long LATENESS_MICROS = 500_000;

	private static final int SEQUENCES = 150;

	private static final int REQUESTS = 80;

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
			this.limiters = this.clocks.stream()
				.map((clock) -> PipelineRateLimiterIT.create(keyPrefix).withClock(clock))
				.toList();
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
