package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds while denied requests hold quota between their round trips: never too much
 * is admitted, and nothing is lost for good.
 */
class PipelineConcurrencyIT {

	private static final int THREADS = 16;

	private static final Identifier ALICE = Identifier.user("alice");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final DirectServers servers = DirectServers.create();

	private final List<RateLimiter> limiters = List.of(PipelineRateLimiterIT.create(this.keyPrefix),
			PipelineRateLimiter.of(TestRedis.connections(), this.keyPrefix));

	private final LongAdder allowed = new LongAdder();

	static Stream<Algorithm> algorithms() {
		return PipelineRateLimiterIT.algorithms();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void exactlyTheQuotaIsAllowedWhenNothingIsHeld(Algorithm algorithm) throws Exception {
		Policy policy = new Policy("api", algorithm, List.of(new Limit(1000, Limit.MAX_WINDOW)));
		fromAllThreads(request(policy, 1), 100);
		// Each that was denied found all quota used, because all cost the same.
		assertThat(this.allowed.sum()).isEqualTo(1000);
		assertThat(remaining(policy)).isZero();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundsAtOnceNeverMakeMoreThanTheQuota(Algorithm algorithm) throws Exception {
		Policy policy = Policy.of("api", algorithm, Limit.parse("50/3650d"));
		for (int round = 0; round < 10; round++) {
			this.limiters.get(0).tryAcquire(policy, ALICE, 3);
			fromAllThreads((limiter) -> limiter.refund(request(policy, 2)), 1);
			assertThat(this.limiters.get(0).tryAcquire(policy, ALICE, 50).allowed()).isTrue();
			assertThat(this.limiters.get(0).tryAcquire(policy, ALICE).allowed()).isFalse();
			this.limiters.get(0).refund(request(policy, 50));
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void requestMayBeDeniedTooEarlyDuringACancellation(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/3650d"));
		RateLimiter limiter = PipelineRateLimiterIT.create(this.servers, this.keyPrefix);
		limiter.tryAcquire(policy, ALICE, 4);
		this.servers.before(2, () -> assertThat(this.limiters.get(0).tryAcquire(policy, ALICE).allowed()).isFalse());
		assertThat(limiter.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

	/** A process that stands still between its round trips. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void lateCancellationDoesNotFallIntoTheNextWindow(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");
		RateLimiter other = PipelineRateLimiterIT.create(this.keyPrefix).withClock(clock);
		RateLimiter slow = PipelineRateLimiterIT.create(this.servers, this.keyPrefix).withClock(() -> {
			// The last time is read when the counts were read.
			if (this.servers.count() > 0) {
				clock.advance(Duration.ofMinutes(3));
				assertThat(other.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
			}
			return clock.instant();
		});
		other.tryAcquire(policy, ALICE, 4);
		assertThat(slow.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(other.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void countThatWasResetBeforeACancellationIsPutRight(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/3650d"));
		RateLimiter limiter = PipelineRateLimiterIT.create(this.servers, this.keyPrefix);
		for (int used = 0; used <= 2; used++) {
			long since = used;
			limiter.tryAcquire(policy, ALICE, 4);
			this.servers.count();
			this.servers.before(2, () -> {
				this.limiters.get(0).reset(policy, ALICE);
				this.limiters.get(0).tryAcquire(policy, ALICE, since);
			});
			assertThat(limiter.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
			// What was used since may be granted once more, and no more than that.
			assertThat(limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
			assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
			limiter.reset(policy, ALICE);
		}
	}

	/** As by a request that was overtaken by one of the next sub-window or window. */
	@Test
	void requestSeesWhatHasOvertakenIt() {
		for (Algorithm algorithm : List.of(new SlidingWindow(), new SlidingWindowCounter())) {
			Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
			RateLimiter ahead = PipelineRateLimiterIT.create(this.keyPrefix)
				.withClock(new ManualClock("2026-03-01T12:01:00Z"));
			RateLimiter late = PipelineRateLimiterIT.create(this.keyPrefix)
				.withClock(new ManualClock("2026-03-01T12:00:59.5Z"));
			assertThat(ahead.tryAcquire(policy, ALICE, 4).allowed()).isTrue();
			assertThat(late.tryAcquire(policy, ALICE, 2).allowed()).isFalse();
			assertThat(late.tryAcquire(policy, ALICE).allowed()).isTrue();
		}
	}

	private static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
	}

	private long remaining(Policy policy) {
		return this.limiters.get(0).peek(RateLimitRequest.of(policy, ALICE)).statuses().get(0).remaining();
	}

	private void fromAllThreads(RateLimitRequest request, int attempts) throws Exception {
		fromAllThreads((limiter) -> {
			if (limiter.tryAcquire(request).allowed()) {
				this.allowed.increment();
			}
		}, attempts);
	}

	private void fromAllThreads(Consumer<RateLimiter> task, int attempts) throws Exception {
		Threads.run(THREADS, attempts, (thread, attempt) -> task.accept(this.limiters.get(thread % 2)));
	}

}
