package io.github.ratelimit.waiting;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.ManualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Callers who wait. They advance the clock by the time for which they would sleep.
 */
@Timeout(60)
class WaitingRateLimiterTests {

	private static final Duration LONG = Duration.ofDays(1);

	private static final Policy EACH_SECOND = Policy.of("api", new LeakyBucket(), Limit.parse("1/s"));

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final MemoryRateLimiter store = new MemoryRateLimiter(this.clock);

	private final AtomicInteger calls = new AtomicInteger();

	/** Who was admitted, in this order. */
	private final List<Thread> admitted = Collections.synchronizedList(new ArrayList<>());

	/** Until it is open, nobody's sleep ends. */
	private final CountDownLatch gate = new CountDownLatch(1);

	/** What others do while the first in line sleeps. */
	private Runnable meanwhile = () -> {
	};

	private final WaitingRateLimiter limiter = new WaitingRateLimiter(new DelegatingRateLimiter(this.store) {

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			WaitingRateLimiterTests.this.calls.incrementAndGet();
			Decision decision = super.tryAcquire(request);
			if (decision.allowed()) {
				WaitingRateLimiterTests.this.admitted.add(Thread.currentThread());
			}
			return decision;
		}

	}, new WaitingRateLimiter.Time() {

		private final ManualTime time = new ManualTime(WaitingRateLimiterTests.this.clock);

		@Override
		public long nanoTime() {
			return this.time.nanoTime();
		}

		@Override
		public void pass(long nanos, Semaphore signal) throws InterruptedException {
			WaitingRateLimiterTests.this.gate.await();
			WaitingRateLimiterTests.this.meanwhile.run();
			this.time.pass(nanos, signal);
		}

	});

	static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingWindow(), new SlidingLog(),
				new SlidingWindowCounter(), new SlidingWindowCounter(0.5, Rounding.DOWN), new LeakyBucket(),
				new TokenBucket(4L));
	}

	private Decision acquire(Policy policy, long cost, Duration atMost) throws InterruptedException {
		return this.limiter.acquire(request(policy, cost), atMost);
	}

	private static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, Identifier.GLOBAL).withCost(cost));
	}

	/** A bucket with a size has one limit. */
	private static Policy twoLimits(Algorithm algorithm) {
		Limit limit = Limit.parse("4/s");
		return (algorithm instanceof TokenBucket) ? Policy.of("api", algorithm, limit)
				: Policy.of("api", algorithm, limit, Limit.parse("6/3s"));
	}

	/** Starts a caller, and returns when it is in line. */
	private <T> Caller<T> inLine(Callable<T> task) {
		Caller<T> caller = new Caller<>(new FutureTask<>(task));
		while (caller.getState() != Thread.State.WAITING && caller.getState() != Thread.State.TIMED_WAITING) {
			assertThat(caller.isAlive()).isTrue();
			Thread.onSpinWait();
		}
		return caller;
	}

	private Duration passed() {
		return Duration.between(Instant.parse("2026-01-01T00:00:00Z"), this.clock.instant());
	}

	@EachAlgorithm
	void callerWaitsExactlyAsLongAsTheDenialSays(Algorithm algorithm) throws InterruptedException {
		this.gate.countDown();
		Policy policy = twoLimits(algorithm);
		this.clock.advance(Duration.ofMillis(300));
		for (int i = 0; i < 10; i++) {
			Instant before = this.clock.instant();
			Duration wait = this.store.peek(request(policy, 3)).retryAfter().orElseThrow();
			this.calls.set(0);
			assertThat(acquire(policy, 3, wait).allowed()).isTrue();
			assertThat(Duration.between(before, this.clock.instant())).isEqualTo(wait);
			assertThat(this.calls).hasValue(wait.isZero() ? 1 : 2);
		}
	}

	@EachAlgorithm
	void callerThatCannotWaitSoLongIsDeniedAtOnce(Algorithm algorithm) throws InterruptedException {
		Policy policy = Policy.of("api", algorithm, Limit.parse("4/s"));
		acquire(policy, 4, LONG);
		Decision denied = this.store.peek(request(policy, 2));
		assertThat(acquire(policy, 2, denied.retryAfter().orElseThrow().minusNanos(1))).isEqualTo(denied);
		assertThat(acquire(policy, 2, Duration.ZERO)).isEqualTo(denied);
		assertThat(acquire(policy, 2, Duration.ofSeconds(-1))).isEqualTo(denied);
		assertThat(acquire(policy, 5, LONG).retryAfter()).isEmpty();
		assertThat(this.store.peek(request(policy, 2))).isEqualTo(denied);
	}

	@Test
	void firstComeIsFirstServedByOneCallEach() throws Exception {
		acquire(EACH_SECOND, 1, LONG);
		List<Caller<Decision>> callers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			callers.add(inLine(() -> acquire(EACH_SECOND, 1, LONG)));
		}
		assertThat(this.calls).hasValue(2);
		this.gate.countDown();
		for (Caller<Decision> caller : callers) {
			assertThat(caller.task.get().allowed()).isTrue();
		}
		assertThat(this.admitted.subList(1, 9)).isEqualTo(callers);
		assertThat(this.calls).hasValue(2 + 8);
		assertThat(passed()).hasSeconds(8);
	}

	/** Whom the line would not admit in time is told so without a call. */
	@Test
	void thoseAheadCount() throws Exception {
		Policy policy = Policy.of("api", new LeakyBucket(), Limit.parse("10/m"));
		acquire(policy, 10, LONG);
		List<Caller<Decision>> callers = new ArrayList<>();
		for (int cost : new int[] { 1, 3, 8 }) {
			callers.add(inLine(() -> acquire(policy, cost, LONG)));
		}
		Decision denied = acquire(policy, 2, Duration.ofSeconds(84).minusNanos(1));
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(denied.retryAfter()).hasValue(Duration.ofSeconds(84));
		assertThat(denied.violated()).singleElement()
			.extracting(LimitStatus::remaining, LimitStatus::resetAfter)
			.containsExactly(0L, Duration.ofSeconds(6));
		assertThat(acquire(policy, 11, LONG).retryAfter()).isEmpty();
		assertThat(this.calls).hasValue(2);
		callers.add(inLine(() -> acquire(policy, 2, Duration.ofSeconds(84))));
		this.gate.countDown();
		for (Caller<Decision> caller : callers) {
			assertThat(caller.task.get().allowed()).isTrue();
		}
		assertThat(passed()).hasSeconds(84);
	}

	/** February is shorter than the longest month. */
	@Test
	void monthsAheadCountAsTheyAre() throws Exception {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/month"));
		this.clock.advance(Duration.ofDays(30));
		acquire(policy, 1, LONG);
		Caller<Decision> first = inLine(() -> acquire(policy, 1, LONG));
		Caller<Decision> second = inLine(() -> acquire(policy, 1, Duration.ofDays(29)));
		this.gate.countDown();
		assertThat(first.task.get().allowed()).isTrue();
		assertThat(second.task.get().allowed()).isTrue();
		assertThat(this.clock.instant()).isEqualTo("2026-03-01T00:00:00Z");
	}

	/** Without the store, a decision has no statuses. */
	@Test
	void storeIsAskedWhenNothingKnownDenies() throws Exception {
		RateLimitRequest request = request(EACH_SECOND, 1);
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		Iterator<Decision> decisions = List
			.of(new Decision(false, this.store.peek(request(EACH_SECOND, 1)).statuses(), LONG), Decision.withoutStore())
			.iterator();
		Caller<Decision> first = inLine(() -> this.limiter.acquire(request, LONG.plusDays(1), decisions::next));
		Caller<Decision> second = inLine(() -> this.limiter.acquire(request, LONG.plusDays(1), () -> {
			asked.countDown();
			awaitUninterruptibly(answer);
			return Decision.withoutStore();
		}));
		this.gate.countDown();
		asked.await();
		assertThat(this.limiter.acquire(request, Duration.ofMillis(1), Decision::withoutStore).allowed()).isTrue();
		answer.countDown();
		assertThat(first.task.get().allowed()).isTrue();
		assertThat(second.task.get().allowed()).isTrue();
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * After random requests: the time that a refused caller is told is never later than
	 * when it would have been admitted, but for the rounding of two times.
	 */
	@EachAlgorithm
	void nobodyIsRefusedWhoseTurnComesInTime(Algorithm algorithm) throws Exception {
		Policy policy = twoLimits(algorithm);
		for (int seed = 0; seed < 40; seed++) {
			WaitingRateLimiterTests test = new WaitingRateLimiterTests();
			Random random = new Random(seed);
			while (test.store.tryAcquire(request(policy, 1 + random.nextInt(2))).allowed()) {
				test.clock.advance(Duration.ofMillis(random.nextInt(300)));
			}
			test.store.tryAcquire(request(policy, 1));
			List<Caller<Decision>> callers = new ArrayList<>();
			for (int i = random.nextInt(9); i >= 0; i--) {
				int cost = 1 + random.nextInt(2);
				callers.add(test.inLine(() -> test.acquire(policy, 1 + cost % 2, LONG)));
			}
			Duration told = test.acquire(policy, 1, Duration.ofNanos(1)).retryAfter().orElseThrow();
			Instant before = test.clock.instant();
			test.gate.countDown();
			for (Caller<Decision> caller : callers) {
				assertThat(caller.task.get().allowed()).isTrue();
			}
			assertThat(test.acquire(policy, 1, LONG).allowed()).isTrue();
			assertThat(told.minus(1, ChronoUnit.MICROS)).as("seed %s", seed)
				.isLessThanOrEqualTo(Duration.between(before, test.clock.instant()));
		}
	}

	@Test
	void interruptionLeavesTheOthersInLine() throws Exception {
		acquire(EACH_SECOND, 1, LONG);
		List<Caller<Decision>> callers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			callers.add(inLine(() -> acquire(EACH_SECOND, 1, LONG)));
		}
		for (int interrupted : new int[] { 2, 0 }) {
			callers.get(interrupted).interrupt();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(callers.get(interrupted).task::get)
				.withCauseInstanceOf(InterruptedException.class);
		}
		this.gate.countDown();
		assertThat(callers.get(1).task.get().allowed()).isTrue();
		assertThat(callers.get(3).task.get().allowed()).isTrue();
		assertThat(passed()).hasSeconds(2);
	}

	@Test
	void othersWhoWereFasterAreWaitedForAgain() throws InterruptedException {
		this.gate.countDown();
		acquire(EACH_SECOND, 1, LONG);
		this.meanwhile = () -> {
			this.clock.advance(Duration.ofSeconds(1));
			this.store.tryAcquire(request(EACH_SECOND, 1));
			this.clock.advance(Duration.ofSeconds(-1));
		};
		Decision denied = acquire(EACH_SECOND, 1, Duration.ofMillis(2500));
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.source()).isEqualTo(Source.STORE);
		assertThat(passed()).hasSeconds(2);
		assertThat(this.calls).hasValue(4);
	}

	@Test
	void resetOfOthersIsNoticedAfterTenSeconds() throws InterruptedException {
		this.gate.countDown();
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/h"));
		acquire(policy, 1, LONG);
		this.meanwhile = () -> this.store.reset(policy, Identifier.GLOBAL);
		assertThat(acquire(policy, 1, LONG).allowed()).isTrue();
		assertThat(passed()).hasSeconds(10);
	}

	@Test
	void blockIsWaitedForAndShadowNever() throws InterruptedException {
		this.gate.countDown();
		this.store.block(Identifier.GLOBAL, null, Duration.ofSeconds(5), "");
		assertThat(acquire(EACH_SECOND, 1, Duration.ofSeconds(4)).blockedFor()).hasSeconds(5);
		assertThat(acquire(EACH_SECOND, 1, Duration.ofSeconds(5)).allowed()).isTrue();
		RateLimitRequest shadow = RateLimitRequest.of(Charge.of(EACH_SECOND, Identifier.GLOBAL).inShadow());
		assertThat(this.limiter.acquire(shadow, LONG).allowed()).isTrue();
		assertThat(passed()).hasSeconds(5);
	}

	/** Nobody knows when a call ends: it is asked every second, and at the end. */
	@Test
	void runningCallsAreAskedForEverySecond() throws InterruptedException {
		this.gate.countDown();
		Policy policy = Policy.of("api", new ConcurrentCalls(), Limit.parse("1/m"));
		acquire(policy, 1, LONG);
		assertThat(acquire(policy, 1, Duration.ofMillis(2500)).allowed()).isFalse();
		assertThat(passed()).hasMillis(2500);
		assertThat(this.calls).hasValue(1 + 4);
	}

	@Test
	void refundLetsTheFirstInLineAsk() throws Exception {
		Policy policy = Policy.of("api", new ConcurrentCalls(), Limit.parse("1/m"));
		WaitingRateLimiter signalled = new WaitingRateLimiter(this.store, new WaitingRateLimiter.Time() {

			@Override
			public void pass(long nanos, Semaphore signal) throws InterruptedException {
				signal.acquire();
			}

		});
		assertThat(signalled.tryAcquire(request(policy, 1).withCall(1)).allowed()).isTrue();
		Caller<Decision> caller = inLine(() -> signalled.acquire(request(policy, 1).withCall(2), LONG));
		signalled.refund(RateLimitRequest.of(policy, Identifier.user("alice")).withCall(1));
		signalled.refund(request(policy, 1).withCall(1));
		assertThat(caller.task.get().allowed()).isTrue();
	}

	@Test
	void failureOfStoreIsThrownToFirstInLine() throws Exception {
		acquire(EACH_SECOND, 1, LONG);
		AtomicInteger failures = new AtomicInteger(1);
		Callable<Decision> task = () -> this.limiter.acquire(request(EACH_SECOND, 1), LONG, () -> {
			if (this.gate.getCount() == 0 && failures.getAndDecrement() > 0) {
				throw new StoreException("expected by this test", null);
			}
			return this.store.tryAcquire(request(EACH_SECOND, 1));
		});
		Caller<Decision> first = inLine(task);
		Caller<Decision> second = inLine(task);
		this.gate.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(first.task::get)
			.withCauseInstanceOf(StoreException.class);
		assertThat(second.task.get().allowed()).isTrue();
	}

	@Test
	void policiesThatPunishDenialsAreRefused() {
		Penalty penalty = new Penalty(5, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofHours(1), true);
		for (Policy policy : List.of(EACH_SECOND.withCountDenied(true), EACH_SECOND.withPenalty(penalty))) {
			assertThatIllegalArgumentException().isThrownBy(() -> acquire(policy, 1, LONG))
				.withMessage(
						"Invalid policy (api): nobody can wait for it, because it counts denied requests or has a penalty.");
		}
	}

	private static final class Caller<T> extends Thread {

		private final FutureTask<T> task;

		Caller(FutureTask<T> task) {
			super(task);
			this.task = task;
			setDaemon(true);
			start();
		}

	}

}
