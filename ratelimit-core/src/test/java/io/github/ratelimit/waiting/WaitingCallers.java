package io.github.ratelimit.waiting;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.ManualTime;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Callers who wait. They advance the clock by the time for which they would sleep.
 */
@Timeout(60)
abstract class WaitingCallers implements WaitingRateLimiter.Time {

	static final Duration LONG = Duration.ofDays(1);

	static final Policy EACH_SECOND = Policy.of("api", new LeakyBucket(), Limit.parse("1/s"));

	final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	final MemoryRateLimiter store = new MemoryRateLimiter(this.clock);

	final AtomicInteger calls = new AtomicInteger();

	/** Who was admitted, in this order. */
	final List<Thread> admitted = new CopyOnWriteArrayList<>();

	/** Until it is open, nobody's sleep ends. */
	final CountDownLatch gate = new CountDownLatch(1);

	/** What others do while the first in line sleeps. */
	Runnable meanwhile = () -> {
	};

	final WaitingRateLimiter limiter = new WaitingRateLimiter(this.store, this);

	@Override
	public long nanoTime() {
		return new ManualTime(this.clock).nanoTime();
	}

	@Override
	public void pass(long nanos, Semaphore signal) throws InterruptedException {
		this.gate.await();
		this.meanwhile.run();
		new ManualTime(this.clock).pass(nanos, signal);
	}

	static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingWindow(), new SlidingLog(),
				new SlidingWindowCounter(), new SlidingWindowCounter(0.5, Rounding.DOWN), new LeakyBucket(),
				new TokenBucket(4L));
	}

	Decision acquire(Policy policy, long cost, Duration atMost) throws InterruptedException {
		RateLimitRequest request = request(policy, cost);
		return this.limiter.acquire(request, atMost, () -> {
			this.calls.incrementAndGet();
			Decision decision = this.store.tryAcquire(request);
			if (decision.allowed()) {
				this.admitted.add(Thread.currentThread());
			}
			return decision;
		});
	}

	static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, Identifier.GLOBAL).withCost(cost));
	}

	/** A bucket with a size has one limit. */
	static Policy twoLimits(Algorithm algorithm) {
		Limit limit = Limit.parse("4/s");
		return (algorithm instanceof TokenBucket) ? Policy.of("api", algorithm, limit)
				: Policy.of("api", algorithm, limit, Limit.parse("6/3s"));
	}

	Caller inLine(Policy policy, long cost) {
		return inLine(() -> acquire(policy, cost, LONG));
	}

	/** Starts a caller, and returns when it is in line. */
	static Caller inLine(Callable<Decision> task) {
		Caller caller = new Caller(task);
		while (caller.thread.getState() != Thread.State.WAITING
				&& caller.thread.getState() != Thread.State.TIMED_WAITING) {
			assertThat(caller.thread.isAlive()).isTrue();
			Thread.onSpinWait();
		}
		return caller;
	}

	static void assertAdmitted(Iterable<Caller> callers) throws Exception {
		for (Caller caller : callers) {
			assertThat(caller.get().allowed()).isTrue();
		}
	}

	static void assertFails(Caller caller, Class<? extends Exception> cause) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(caller::get).withCauseInstanceOf(cause);
	}

	Duration passed() {
		return Duration.between(Instant.parse("2026-01-01T00:00:00Z"), this.clock.instant());
	}

	static final class Caller extends FutureTask<Decision> {

		final Thread thread = new Thread(this);

		Caller(Callable<Decision> task) {
			super(task);
			this.thread.setDaemon(true);
			this.thread.start();
		}

	}

}
