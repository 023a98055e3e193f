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
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.NeedsJedis72;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bounds without scripts when requests reach Redis in another order than that of
 * their times: the clocks of two machines differ, or one request overtakes another.
 */
@NeedsJedis72
class PipelineOrderIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final long CLOCK_DIFFERENCE_MICROS = 500_000;

	private static final long LATENESS_MICROS = 500_000;

	private static final int SEQUENCES = 150;

	private static final int REQUESTS = 80;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");

	private final ManualClock otherClock = new ManualClock("2026-03-01T12:00:00Z");

	private final RateLimiter limiter = PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix)
		.withClock(this.clock);

	private final RateLimiter other = PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix)
		.withClock(this.otherClock);

	@ParameterizedTest
	@ValueSource(strings = { "12:00:59.999999", "12:00:59.5", "12:00:59" })
	void slidingWindowSeesWhatHasOvertaken(String time) {
		Policy policy = Policy.of("api", new SlidingWindow(), Limit.parse("5/m"));
		this.otherClock.set("2026-03-01T12:01:00Z");
		assertThat(this.other.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		this.clock.set("2026-03-01T" + time + "Z");
		assertThat(this.limiter.peek(RateLimitRequest.of(policy, ALICE)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(0L);
		Decision denied = this.limiter.tryAcquire(policy, ALICE);
		assertThat(denied.allowed()).isFalse();
		// Until its sub-window has left the window.
		assertThat(this.clock.instant().plus(denied.retryAfter().orElseThrow()))
			.isEqualTo(Instant.parse("2026-03-01T12:02:01Z"));
		this.clock.advance(denied.retryAfter().orElseThrow().minusNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
	}

	@Test
	void slidingWindowDoesNotLookFurtherAheadThanClocksMayDiffer() {
		Policy policy = Policy.of("api", new SlidingWindow(), Limit.parse("5/m"));
		this.otherClock.set("2026-03-01T12:01:00Z");
		assertThat(this.other.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		this.clock.set("2026-03-01T12:00:58.999999Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
	}

	@Test
	void refundAndResetReachWhatHasOvertaken() {
		Policy policy = Policy.of("api", new SlidingWindow(), Limit.parse("5/m"));
		this.clock.set("2026-03-01T12:00:59.5Z");
		this.otherClock.set("2026-03-01T12:01:00Z");
		this.limiter.tryAcquire(policy, ALICE);
		this.other.tryAcquire(policy, ALICE, 4);
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		assertThat(remaining(policy)).isEqualTo(1);
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		this.limiter.reset(policy, ALICE);
		assertThat(remaining(policy)).isEqualTo(5);
	}

	/** Without it, twice the quota and not just under it. */
	@Test
	void slidingWindowCounterSeesWhatHasOvertaken() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		this.otherClock.set("2026-03-01T12:01:00Z");
		assertThat(this.other.tryAcquire(policy, ALICE, 4).allowed()).isTrue();
		this.clock.set("2026-03-01T12:00:59.5Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(remaining(policy)).isZero();
		Decision denied = this.limiter.tryAcquire(policy, ALICE);
		assertThat(denied.allowed()).isFalse();
		this.clock.advance(denied.retryAfter().orElseThrow().minusNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

	@Test
	void fixedWindowAdmitsAQuotaInEachWindowWhateverTheOrder() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/m"));
		this.otherClock.set("2026-03-01T12:01:00Z");
		this.clock.set("2026-03-01T12:00:59.5Z");
		int allowed = 0;
		for (int i = 0; i < 20; i++) {
			allowed += this.other.tryAcquire(policy, ALICE).allowed() ? 1 : 0;
			allowed += this.limiter.tryAcquire(policy, ALICE).allowed() ? 1 : 0;
		}
		assertThat(allowed).isEqualTo(10);
	}

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

	private long remaining(Policy policy) {
		return this.limiter.peek(RateLimitRequest.of(policy, ALICE)).statuses().get(0).remaining();
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

		private final List<RateLimiter> limiters;

		private final Random random;

		private final Policy policy;

		private Instant now = Instant.parse("2026-03-01T12:00:58.9Z");

		private Traffic(Algorithm algorithm, int seed) {
			this.random = new Random(seed);
			String keyPrefix = TestRedis.newKeyPrefix();
			this.limiters = this.clocks.stream()
				.map((clock) -> (RateLimiter) PipelineRateLimiter.of(TestRedis.client(), keyPrefix).withClock(clock))
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
				if (this.limiters.get(machine).tryAcquire(this.policy, ALICE, cost).allowed()) {
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
