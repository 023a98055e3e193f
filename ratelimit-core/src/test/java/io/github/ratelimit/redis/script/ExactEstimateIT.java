package io.github.ratelimit.redis.script;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.ExactEstimate;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code sliding-window-counter} decides in Redis, where all numbers are floating
 * point, is exact.
 */
class ExactEstimateIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int DECISIONS = Integer.getInteger("ratelimit.estimate.decisions", 800);

	/** For each window scripts are composed, which takes as long as several decisions. */
	private static final int DECISIONS_OF_A_WINDOW = 4;

	private Instant now = Instant.EPOCH;

	private final RateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
		.withClock(() -> this.now);

	private final RateLimiter memory = new MemoryRateLimiter(() -> this.now);

	@ParameterizedTest
	@CsvSource({ "1, NONE", "1, DOWN", "0.7, NONE", "0.125, UP", "0.999999, NONE", "0.000001, DOWN" })
	void everyDecisionIsThatOfExactArithmetic(double weight, Rounding rounding) {
		Random random = new Random(1);
		long window = 0;
		for (int i = 0; i < DECISIONS; i++) {
			if (i % DECISIONS_OF_A_WINDOW == 0) {
				window = ExactEstimate.randomWindow(random);
			}
			ExactEstimate estimate = ExactEstimate.random(new SlidingWindowCounter(weight, rounding), window, random);
			Policy policy = Policy.of("api" + i, estimate.algorithm(), estimate.limit());
			Policy largest = Policy.of("api" + i, estimate.algorithm(),
					new Limit(Limit.MAX_QUOTA, estimate.limit().window()));
			use(largest, estimate.start() - 1, estimate.previous());
			use(largest, estimate.now(), estimate.current());
			long cost = 1 + Math.min(estimate.quota() - 1, Math.max(0, estimate.remaining() - 2 + random.nextInt(5)));
			RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
			Decision decision = this.redis.tryAcquire(request);
			assertThat(decision).as("%d by %s", cost, estimate).isEqualTo(this.memory.tryAcquire(request));
			LimitStatus status = decision.statuses().get(0);
			assertThat(status.remaining() + (decision.allowed() ? cost : 0)).as("%s", estimate)
				.isEqualTo(estimate.remaining());
			long wait = status.retryAfter().toNanos() / 1000;
			assertThat(estimate.allows(cost, wait)).as("%d after %d by %s", cost, wait, estimate).isTrue();
			assertThat(wait > 0 && estimate.allows(cost, wait - 1)).as("%d before %d by %s", cost, wait, estimate)
				.isFalse();
			this.redis.reset(policy, ALICE);
		}
	}

	private void use(Policy policy, long time, long cost) {
		this.now = Instant.EPOCH.plus(time, ChronoUnit.MICROS);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
		this.redis.charge(request);
		this.memory.charge(request);
	}

}
