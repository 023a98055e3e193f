package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.RateLimiterContract;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis keys that hold what no request wrote. Some cannot be told from real ones, but
 * whatever they say, it is no error, and it is over when it should be.
 */
class DamagedStateIT extends RedisFixture {

	private static final int STATES = 150;

	/** Two windows, because some algorithms look back to the window before. */
	private static final Duration LONGEST = Duration.ofHours(2);

	static Stream<Arguments> algorithmsAndOptions() {
		return Stream
			.concat(algorithms()
				.filter((algorithm) -> !(algorithm instanceof FixedWindow fixed && fixed.zone() != ZoneOffset.UTC)),
					Stream.of(new TokenBucket(7L), new ConcurrentCalls()))
			.flatMap((algorithm) -> Stream.of(false, true)
				.filter((counted) -> !counted || !algorithm.countsCalls())
				.map((counted) -> Arguments.of(algorithm, counted)));
	}

	/** Of the right length, but some bytes are wrong. */
	@ParameterizedTest
	@MethodSource("algorithmsAndOptions")
	void damagedStateIsNoErrorAndEnds(Algorithm algorithm, boolean countDenied) {
		Policy policy = policy(algorithm, "9/h").withCountDenied(countDenied);
		for (int seed = 0; seed < STATES; seed++) {
			Random random = new Random(seed);
			for (int i = 0; i < 8; i++) {
				this.clocked.tryAcquire(RateLimitRequest.of(policy, ALICE).withMetadata("request " + i));
				this.clock.advance(Duration.ofSeconds(random.nextInt(600)));
			}
			damage(policy, random);
			for (int i = 0; i < 12; i++) {
				use(policy, random);
				this.clock.advance(Duration.ofSeconds(random.nextInt(600)));
			}
			this.clock.advance(LONGEST);
			assertThat(remaining(this.clocked, policy, ALICE)).as("seed %d", seed)
				.containsExactly(algorithm.largestCost(policy.limits().get(0)));
			this.clocked.tryAcquire(policy, ALICE);
			assertThat(timeToLive(policy)).as("seed %d", seed).isPositive();
			this.clocked.reset(policy, ALICE);
		}
	}

	private void use(Policy policy, Random random) {
		RateLimitRequest request = request(policy, 1 + random.nextInt(3));
		switch (random.nextInt(6)) {
			case 0 -> this.clocked.refund(request);
			case 1 -> this.clocked.charge(request);
			default -> {
				LimitStatus status = this.clocked.tryAcquire(request).statuses().get(0);
				assertThat(status.retryAfter()).isLessThanOrEqualTo(LONGEST);
				assertThat(status.resetAfter()).isLessThanOrEqualTo(LONGEST);
			}
		}
		if (policy.algorithm().keepsEntries()) {
			this.clocked.entries(policy, ALICE);
		}
		if (policy.algorithm().keepsWindows()) {
			this.clocked.series(policy, ALICE);
		}
	}

	private void damage(Policy policy, Random random) {
		byte[] state = state(policy);
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
		write(policy, state);
	}

	private void write(Policy policy, byte[] state) {
		this.jedis.set(key(policy).getBytes(StandardCharsets.US_ASCII), state);
	}

	static Stream<Arguments> foreignKeys() {
		Stream<Policy> small = RateLimiterContract.algorithms().map((algorithm) -> policy(algorithm, "5/h", "5/d"));
		// So large a log is read in pieces.
		return Stream.concat(small, Stream.of(policy(new SlidingLog(), "2000/h")))
			.flatMap((policy) -> IntStream.of(-2, -1, 0, 1, 30, 50_001, 50_004, 1_000_003)
				.mapToObj((length) -> Arguments.of(policy, length)));
	}

	/** A text, or in place of negative lengths a list and a hash. */
	@ParameterizedTest
	@MethodSource("foreignKeys")
	void keyOfAnotherMakingIsReplaced(Policy policy, int length) {
		long quota = policy.limits().get(0).quota();
		switch (length) {
			case -2 -> this.jedis.lpush(key(policy), "1", "2");
			case -1 -> this.jedis.hset(key(policy), Map.of("count", "5"));
			default -> this.jedis.set(key(policy), "4".repeat(length));
		}
		assertThat(this.limiter.peek(request(policy, quota)).allowed()).isTrue();
		assertThat(timeToLive(policy)).isEqualTo(-1);
		this.limiter.refund(request(policy, quota));
		assertThat(this.limiter.tryAcquire(request(policy, quota)).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		assertThat(timeToLive(policy)).isBetween(1L, Duration.ofDays(2).toMillis() + 4);
	}

	/** The two forms of a bucket: a number that Redis keeps in place, and bytes. */
	@Test
	void onlyASingleBucketOfWholeMicrosecondsIsANumber() {
		assertThat(stateOfBucket("100/m")).hasSize(16).asString(StandardCharsets.US_ASCII).containsOnlyDigits();
		assertThat(stateOfBucket("7/m")).hasSize(11);
		assertThat(stateOfBucket("100/m", "1000/h")).hasSize(22);
	}

	private byte[] stateOfBucket(String... limits) {
		Policy policy = policy(new LeakyBucket(), limits);
		this.clocked.tryAcquire(policy, ALICE);
		return state(policy);
	}

	/** A time of 11 digits would be as long as the bytes are. */
	@ParameterizedTest
	@CsvSource({ "1970-01-01T03:00:00Z, 11", "2001-09-09T01:46:38Z, 11", "2001-09-09T01:46:39Z, 16" })
	void timeOfFewerDigitsIsBytes(Instant time, int length) {
		this.clock.set(time.toString());
		MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);
		Policy policy = policy(new LeakyBucket(), "100/m");
		for (int i = 0; i < 3; i++) {
			assertThat(this.clocked.tryAcquire(policy, ALICE)).isEqualTo(memory.tryAcquire(policy, ALICE));
			assertThat(state(policy)).hasSize((i == 0) ? 11 : length);
			this.clock.advance(Duration.ofMillis(300));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "nan", "inf", "-inf", "0x7fffffffffffff", "9999999999999999", "1e300", "0000000000000000",
			"1.5e-3", "-999999999999999", "x" })
	void garbageOfSixteenBytesIsNoError(String text) {
		Policy policy = policy(new LeakyBucket(), "100/m");
		this.jedis.set(key(policy), " ".repeat(16 - text.length()) + text);
		LimitStatus status = this.clocked.tryAcquire(policy, ALICE).statuses().get(0);
		assertThat(status.remaining()).isEqualTo(99);
		assertThat(status.retryAfter()).isLessThanOrEqualTo(Duration.ofMinutes(1));
		assertThat(timeToLive(policy)).isBetween(-2L, 60_002L).isNotEqualTo(-1);
	}

	/** As no bucket writes it. */
	@Test
	void burstAtAQuotaOfZeroIsNoError() {
		Policy policy = policy(new TokenBucket(5L), "100/m");
		write(policy, new byte[15]);
		assertThat(this.clocked.tryAcquire(policy, ALICE).statuses().get(0).remaining()).isEqualTo(4);
		assertThat(this.clocked.tryAcquire(policy, ALICE).statuses().get(0).remaining()).isEqualTo(3);
		byte[] full = new byte[15];
		Arrays.fill(full, 0, 11, (byte) 0x7f);
		write(policy, full);
		LimitStatus status = this.clocked.tryAcquire(policy, ALICE).statuses().get(0);
		assertThat(status.remaining()).isZero();
		assertThat(status.retryAfter()).isEqualTo(Duration.ofMillis(600));
	}

}
