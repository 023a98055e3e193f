package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * States of the right length in which some bytes are wrong. They cannot be told from real
 * ones, but whatever they say, it is no error, and it is over when it should be.
 */
class DamagedStateIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int STATES = 150;

	/** Two windows, because some algorithms look back to the window before. */
	private static final Duration LONGEST = Duration.ofHours(2);

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix)
		.withClock(this.clock);

	static Stream<Arguments> algorithms() {
		return Stream
			.concat(Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants())
				.filter((algorithm) -> !(algorithm instanceof FixedWindow fixed && fixed.zone() != ZoneOffset.UTC)),
					Stream.of(new TokenBucket(7L), new ConcurrentCalls()))
			.flatMap((algorithm) -> Stream.of(false, true)
				.filter((counted) -> !counted || !algorithm.countsCalls())
				.map((counted) -> Arguments.of(algorithm, counted)));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void damagedStateIsNoErrorAndEnds(Algorithm algorithm, boolean countDenied) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("9/h")).withCountDenied(countDenied);
		for (int seed = 0; seed < STATES; seed++) {
			Random random = new Random(seed);
			for (int i = 0; i < 8; i++) {
				this.limiter.tryAcquire(RateLimitRequest.of(policy, ALICE).withMetadata("request " + i));
				this.clock.advance(Duration.ofSeconds(random.nextInt(600)));
			}
			damage(policy, random);
			for (int i = 0; i < 12; i++) {
				use(policy, random);
				this.clock.advance(Duration.ofSeconds(random.nextInt(600)));
			}
			this.clock.advance(LONGEST);
			Decision decision = this.limiter.peek(RateLimitRequest.of(policy, ALICE));
			assertThat(decision.statuses()).as("seed %d", seed)
				.extracting(LimitStatus::remaining)
				.containsExactly(algorithm.largestCost(policy.limits().get(0)));
			this.limiter.tryAcquire(policy, ALICE);
			assertThat(this.jedis.pttl(key(policy))).as("seed %d", seed).isPositive();
			this.limiter.reset(policy, ALICE);
		}
	}

	private void use(Policy policy, Random random) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE).withCost(1 + random.nextInt(3)));
		switch (random.nextInt(6)) {
			case 0 -> this.limiter.refund(request);
			case 1 -> this.limiter.charge(request);
			default -> {
				LimitStatus status = this.limiter.tryAcquire(request).statuses().get(0);
				assertThat(status.retryAfter()).isLessThanOrEqualTo(LONGEST);
				assertThat(status.resetAfter()).isLessThanOrEqualTo(LONGEST);
			}
		}
		if (policy.algorithm().keepsEntries()) {
			this.limiter.entries(policy, ALICE);
		}
		if (policy.algorithm().keepsWindows()) {
			this.limiter.series(policy, ALICE);
		}
	}

	private byte[] key(Policy policy) {
		return new KeyNames(this.keyPrefix).key(ALICE, policy).getBytes(StandardCharsets.US_ASCII);
	}

	private void damage(Policy policy, Random random) {
		byte[] key = key(policy);
		byte[] state = this.jedis.get(key);
		if (state == null) {
			return;
		}
		boolean all = random.nextInt(4) == 0;
		for (int i = 0; i < 1 + random.nextInt(6); i++) {
			state[random.nextInt(state.length)] = (byte) random.nextInt(256);
		}
		if (all) {
			random.nextBytes(state);
		}
		this.jedis.set(key, state);
	}

}
