package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds while denied requests hold quota between their round trips: never too much
 * is admitted, and nothing is lost for good.
 */
class PipelineConcurrencyIT extends PipelineFixture {

	private static final int THREADS = 16;

	private final DirectServers servers = DirectServers.create();

	/** Its calls can be disturbed. */
	private final PipelineRateLimiter slow = create(this.servers, this.keyPrefix);

	private final List<RateLimiter> limiters = List.of(this.plain,
			PipelineRateLimiter.of(TestRedis.connections(), this.keyPrefix));

	@EachAlgorithm
	void exactlyTheQuotaIsAllowedWhenNothingIsHeld(Algorithm algorithm) throws Exception {
		Policy policy = policy(algorithm, "1000/3650d");
		LongAdder allowed = new LongAdder();
		fromAllThreads((limiter) -> allowed.add(limiter.tryAcquire(policy, ALICE).allowed() ? 1 : 0), 100);
		// Each that was denied found all quota used, because all cost the same.
		assertThat(allowed.sum()).isEqualTo(1000);
		assertThat(remaining(this.plain, policy, ALICE)).containsExactly(0L);
	}

	@EachAlgorithm
	void refundsAtOnceNeverMakeMoreThanTheQuota(Algorithm algorithm) throws Exception {
		Policy policy = policy(algorithm, "50/3650d");
		for (int round = 0; round < 10; round++) {
			this.plain.tryAcquire(policy, ALICE, 3);
			fromAllThreads((limiter) -> limiter.refund(request(policy, 2)), 1);
			assertThat(this.plain.tryAcquire(policy, ALICE, 50).allowed()).isTrue();
			assertThat(this.plain.tryAcquire(policy, ALICE).allowed()).isFalse();
			this.plain.refund(request(policy, 50));
		}
	}

	@EachAlgorithm
	void requestMayBeDeniedTooEarlyDuringACancellation(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/3650d");
		this.slow.tryAcquire(policy, ALICE, 4);
		this.servers.before(2, () -> assertThat(this.plain.tryAcquire(policy, ALICE).allowed()).isFalse());
		assertThat(this.slow.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(this.slow.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

	/** A process that stands still between its round trips. */
	@EachAlgorithm
	void lateCancellationDoesNotFallIntoTheNextWindow(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.clock.set("2026-03-01T12:00:00Z");
		RateLimiter other = this.plain.withClock(this.clock);
		RateLimiter late = this.slow.withClock(() -> {
			// The last time is read when the counts were read.
			if (this.servers.count() > 0) {
				this.clock.advance(Duration.ofMinutes(3));
				assertThat(other.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
			}
			return this.clock.instant();
		});
		other.tryAcquire(policy, ALICE, 4);
		assertThat(late.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(other.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@EachAlgorithm
	void countThatWasResetBeforeACancellationIsPutRight(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/3650d");
		for (int used = 0; used <= 2; used++) {
			long since = used;
			this.slow.tryAcquire(policy, ALICE, 4);
			this.servers.count();
			this.servers.before(2, () -> {
				this.plain.reset(policy, ALICE);
				this.plain.tryAcquire(policy, ALICE, since);
			});
			assertThat(this.slow.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
			// What was used since may be granted once more, and no more than that.
			assertThat(this.slow.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
			assertThat(this.slow.tryAcquire(policy, ALICE).allowed()).isFalse();
			this.slow.reset(policy, ALICE);
		}
	}

	/**
	 * What a process remembers of the window before is what was counted at that moment.
	 */
	@Test
	void resetIsNotNoticedInTheCachedPreviousWindow() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		RateLimiter remembering = create(this.keyPrefix).withClock(this.clock);
		RateLimiter other = create(this.keyPrefix).withClock(this.clock);
		this.clock.set("2026-03-01T11:59:50Z");
		remembering.tryAcquire(policy, ALICE, 5);
		this.clock.set("2026-03-01T12:00:06Z");
		assertThat(remembering.tryAcquire(policy, ALICE).allowed()).isFalse();
		other.reset(policy, ALICE);
		assertThat(remembering.tryAcquire(policy, ALICE).allowed()).isFalse();
		assertThat(other.tryAcquire(policy, ALICE, 1).allowed()).isTrue();
		this.clock.set("2026-03-01T12:01:06Z");
		assertThat(remembering.tryAcquire(policy, ALICE, 4).allowed()).isTrue();
	}

	/** As by a request that was overtaken by one of the next sub-window or window. */
	@Test
	void requestSeesWhatHasOvertakenIt() {
		for (Algorithm algorithm : List.of(new SlidingWindow(), new SlidingWindowCounter())) {
			Policy policy = policy(algorithm, "5/m");
			RateLimiter ahead = create(this.keyPrefix).withClock(new ManualClock("2026-03-01T12:01:00Z"));
			RateLimiter late = create(this.keyPrefix).withClock(new ManualClock("2026-03-01T12:00:59.5Z"));
			assertThat(ahead.tryAcquire(policy, ALICE, 4).allowed()).isTrue();
			assertThat(late.tryAcquire(policy, ALICE, 2).allowed()).isFalse();
			assertThat(late.tryAcquire(policy, ALICE).allowed()).isTrue();
		}
	}

	private void fromAllThreads(Consumer<RateLimiter> task, int attempts) throws Exception {
		Threads.run(THREADS, attempts, (thread, attempt) -> task.accept(this.limiters.get(thread % 2)));
	}

}
