package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.redis.Batch.Session;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.NeedsJedis72;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds while requests that are denied hold quota between their round trips: never
 * too much is admitted, and nothing is lost for good.
 */
@NeedsJedis72
class PipelineConcurrencyIT {

	private static final int THREADS = 16;

	private static final Identifier ALICE = Identifier.user("alice");

	private final UnifiedJedis otherClient = JedisClients.create(TestRedis.uri());

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final List<RateLimiter> limiters = List.of(PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix),
			PipelineRateLimiter.of(this.otherClient, this.keyPrefix));

	private final LongAdder allowed = new LongAdder();

	@AfterEach
	void closeClient() {
		this.otherClient.close();
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void exactlyTheQuotaIsAllowedWhenNothingIsHeld(Algorithm algorithm) throws Exception {
		Policy policy = new Policy("api", algorithm, List.of(new Limit(1000, Limit.MAX_WINDOW)));
		fromAllThreads(request(policy, 1), 100);
		// Each that was denied found all quota used, because all cost the same.
		assertThat(this.allowed.sum()).isEqualTo(1000);
		assertThat(remaining(policy)).isZero();
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void neverMoreThanTheQuotasIsAllowedAndNothingIsLostToThoseThatAreDenied(Algorithm algorithm) throws Exception {
		Policy total = new Policy("total", algorithm, List.of(new Limit(301, Limit.MAX_WINDOW)));
		Policy each = new Policy("each", algorithm, List.of(new Limit(400, Limit.MAX_WINDOW)));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(each, ALICE).withCost(2),
				Charge.of(total, Identifier.GLOBAL).withCost(3));
		fromAllThreads(request, 20);
		while (this.limiters.get(0).tryAcquire(request).allowed()) {
			this.allowed.increment();
		}
		assertThat(this.allowed.sum()).isEqualTo(100);
		assertThat(remaining(each)).isEqualTo(200);
		assertThat(this.limiters.get(1).peek(RateLimitRequest.of(total, Identifier.GLOBAL)).statuses())
			.extracting(LimitStatus::remaining)
			.containsExactly(1L);
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void neverMoreThanTheQuotaOfEachWindowIsAllowedAcrossWindows(Algorithm algorithm) throws Exception {
		Duration window = Duration.ofMillis(50);
		Policy policy = Policy.of("api", algorithm, Limit.of(7, window));
		long start = System.nanoTime();
		fromAllThreads(request(policy, 2), 400);
		long windows = (System.nanoTime() - start) / window.toNanos() + 2;
		assertThat(this.allowed.sum()).isBetween(3L, 3 * windows);
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void requestMayBeDeniedTooEarlyWhileAnotherIsTakenBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/3650d"));
		RateLimiter limiter = this.limiters.get(0);
		limiter.tryAcquire(policy, ALICE, 4);
		Moment now = Moment.now(InstantSource.system(), false);
		Tallies tallies = new Tallies(request(policy, 3), new RedisKeys(this.keyPrefix), now, new PastCounts());
		try (Session session = new Session(SingleLink.of(TestRedis.client()))) {
			tallies.beginToCount(session);
			tallies.end(session);
			assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
			assertThat(tallies.isAllowed()).isFalse();
			assertThat(tallies.settle(session, false)).extracting(LimitStatus::remaining).containsExactly(1L);
		}
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

	/** But only by whoever has looked at that moment. */
	@Test
	void whatIsHeldInTheWindowBeforeRemainsHeldByThoseWhoRememberItsCount() {
		ManualClock clock = new ManualClock("2026-03-01T11:59:50Z");
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		RateLimiter remembering = PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix).withClock(clock);
		remembering.tryAcquire(policy, ALICE, 3);
		Tallies tallies = new Tallies(request(policy, 4), new RedisKeys(this.keyPrefix), Moment.now(clock, true),
				new PastCounts());
		try (Session session = new Session(SingleLink.of(TestRedis.client()))) {
			tallies.beginToCount(session);
			tallies.end(session);
			clock.set("2026-03-01T12:00:02Z");
			assertThat(remembering.tryAcquire(policy, ALICE).allowed()).isFalse();
			assertThat(tallies.isAllowed()).isFalse();
			tallies.settle(session, false);
		}
		assertThat(remembering.tryAcquire(policy, ALICE).allowed()).isFalse();
		RateLimiter other = PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix).withClock(clock);
		assertThat(other.tryAcquire(policy, ALICE, 2).allowed()).isTrue();
		clock.set("2026-03-01T12:01:02Z");
		assertThat(remembering.tryAcquire(policy, ALICE, 3).allowed()).isTrue();
	}

	@Test
	void resetIsNotNoticedByThoseWhoRememberTheWindowBeforeUntilThePresentOneEnds() {
		ManualClock clock = new ManualClock("2026-03-01T11:59:50Z");
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		RateLimiter remembering = PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix).withClock(clock);
		RateLimiter other = PipelineRateLimiter.of(this.otherClient, this.keyPrefix).withClock(clock);
		remembering.tryAcquire(policy, ALICE, 5);
		clock.set("2026-03-01T12:00:02Z");
		assertThat(remembering.tryAcquire(policy, ALICE).allowed()).isFalse();
		other.reset(policy, ALICE);
		assertThat(remembering.tryAcquire(policy, ALICE).allowed()).isFalse();
		assertThat(other.tryAcquire(policy, ALICE, 1).allowed()).isTrue();
		clock.set("2026-03-01T12:01:02Z");
		assertThat(remembering.tryAcquire(policy, ALICE, 4).allowed()).isTrue();
	}

	/** A process that stood still between its round trips. */
	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void whatIsTakenBackTooLateDoesNotFallIntoTheNextWindow(Algorithm algorithm) {
		ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");
		RateLimiter limiter = PipelineRateLimiter.of(TestRedis.client(), this.keyPrefix).withClock(clock);
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		limiter.tryAcquire(policy, ALICE, 4);
		Tallies tallies = new Tallies(request(policy, 3), new RedisKeys(this.keyPrefix), Moment.now(clock, true),
				new PastCounts());
		try (Session session = new Session(SingleLink.of(TestRedis.client()))) {
			tallies.beginToCount(session);
			tallies.end(session);
			clock.advance(Duration.ofMinutes(3));
			assertThat(limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
			assertThat(tallies.isAllowed()).isFalse();
			tallies.settle(session, false);
		}
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void countThatWasResetBeforeItWasTakenBackIsPutRight(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/3650d"));
		RateLimiter limiter = this.limiters.get(0);
		limiter.tryAcquire(policy, ALICE, 4);
		Moment now = Moment.now(InstantSource.system(), false);
		Tallies tallies = new Tallies(request(policy, 3), new RedisKeys(this.keyPrefix), now, new PastCounts());
		try (Session session = new Session(SingleLink.of(TestRedis.client()))) {
			tallies.beginToCount(session);
			tallies.end(session);
			limiter.reset(policy, ALICE);
			tallies.settle(session, tallies.isAllowed());
		}
		assertThat(limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.PipelineRateLimiterIT#algorithms")
	void refundsAtOnceNeverMakeMoreThanTheQuota(Algorithm algorithm) throws Exception {
		Policy policy = Policy.of("api", algorithm, Limit.parse("50/3650d"));
		for (int round = 0; round < 10; round++) {
			this.limiters.get(0).tryAcquire(policy, ALICE, 3);
			fromAllThreads((limiter) -> limiter.refund(request(policy, 2)), 1);
			assertThat(remaining(policy)).isEqualTo(50);
			assertThat(this.limiters.get(0).tryAcquire(policy, ALICE, 50).allowed()).isTrue();
			assertThat(this.limiters.get(0).tryAcquire(policy, ALICE).allowed()).isFalse();
			this.limiters.get(0).refund(request(policy, 50));
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
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Callable<Void>> callables = IntStream.range(0, THREADS).mapToObj((thread) -> (Callable<Void>) () -> {
				for (int attempt = 0; attempt < attempts; attempt++) {
					task.accept(this.limiters.get(thread % 2));
				}
				return null;
			}).toList();
			for (Future<Void> result : executor.invokeAll(callables)) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

}
