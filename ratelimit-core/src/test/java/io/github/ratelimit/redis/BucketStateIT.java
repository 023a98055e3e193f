package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The two forms of a bucket's state: a number that Redis keeps in place, and bytes.
 */
class BucketStateIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix)
		.withClock(this.clock);

	private final RateLimiter memory = new MemoryRateLimiter(this.clock);

	@Test
	void onlyASingleBucketOfWholeMicrosecondsIsANumber() {
		decide(policy("100/m"), 1);
		assertThat(this.jedis.get(key(policy("100/m")))).hasSize(16).containsOnlyDigits();
		decide(policy("7/m"), 1);
		assertThat(bytes(policy("7/m"))).hasSize(11);
		decide(policy("100/m", "1000/h"), 1);
		assertThat(bytes(policy("100/m", "1000/h"))).hasSize(22);
	}

	/** A time of 11 digits would be as long as the bytes are. */
	@ParameterizedTest
	@CsvSource({ "1970-01-01T03:00:00Z, 11", "2001-09-09T01:46:38Z, 11", "2001-09-09T01:46:39Z, 16" })
	void timeOfFewerDigitsIsBytes(Instant time, int length) {
		this.clock.set(time.toString());
		Policy policy = policy("100/m");
		for (int i = 0; i < 3; i++) {
			decide(policy, 1);
			assertThat(bytes(policy)).hasSize((i == 0) ? 11 : length);
			this.clock.advance(Duration.ofMillis(300));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "nan", "inf", "-inf", "0x7fffffffffffff", "9999999999999999", "1e300", "0000000000000000",
			"1.5e-3", "-999999999999999", "x" })
	void garbageOfSixteenBytesIsNoError(String text) {
		Policy policy = policy("100/m");
		this.jedis.set(key(policy), " ".repeat(16 - text.length()) + text);
		LimitStatus status = this.limiter.tryAcquire(policy, ALICE).statuses().get(0);
		assertThat(status.remaining()).isEqualTo(99);
		assertThat(status.retryAfter()).isLessThanOrEqualTo(Duration.ofMinutes(1));
		assertThat(this.jedis.pttl(key(policy))).isBetween(-2L, 60_002L).isNotEqualTo(-1);
	}

	/** As no bucket writes it. */
	@Test
	void burstAtAQuotaOfZeroIsNoError() {
		Policy policy = Policy.of("api", new TokenBucket(5L), Limit.parse("100/m"));
		this.jedis.set(key(policy).getBytes(StandardCharsets.US_ASCII), new byte[15]);
		assertThat(this.limiter.tryAcquire(policy, ALICE).statuses().get(0).remaining()).isEqualTo(4);
		assertThat(this.limiter.tryAcquire(policy, ALICE).statuses().get(0).remaining()).isEqualTo(3);
		byte[] full = new byte[15];
		Arrays.fill(full, 0, 11, (byte) 0x7f);
		this.jedis.set(key(policy).getBytes(StandardCharsets.US_ASCII), full);
		LimitStatus status = this.limiter.tryAcquire(policy, ALICE).statuses().get(0);
		assertThat(status.remaining()).isZero();
		assertThat(status.retryAfter()).isEqualTo(Duration.ofMillis(600));
	}

	private void decide(Policy policy, long cost) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
		Decision decision = this.limiter.tryAcquire(request);
		assertThat(decision).isEqualTo(this.memory.tryAcquire(request));
	}

	private byte[] bytes(Policy policy) {
		return this.jedis.get(key(policy).getBytes(StandardCharsets.US_ASCII));
	}

	private String key(Policy policy) {
		return new KeyNames(this.keyPrefix).key(ALICE, policy);
	}

	private static Policy policy(String... limits) {
		return Policy.of("api", new LeakyBucket(), Stream.of(limits).map(Limit::parse).toArray(Limit[]::new));
	}

}
