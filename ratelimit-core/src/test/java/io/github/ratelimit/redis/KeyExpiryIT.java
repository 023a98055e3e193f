package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of Redis keys, by the server's own clock: each expires when it no longer
 * matters, and what is wrong with one is put right by the next request, or in the next
 * window.
 */
class KeyExpiryIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	/** Two windows of a day, because some algorithms look back to the window before. */
	private static final long LONGEST_TTL = 2 * 86_400_002L;

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	private final RateLimiter clocked = this.limiter.withClock(this.clock);

	static Stream<Algorithm> algorithms() {
		return RateLimiterContract.algorithms();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void keyExpiresWhenItsLongestWindowEnds(Algorithm algorithm) {
		for (String limits : List.of("100/d", "100/7d", "100/90d", "100/3650d", "2/ms 3/s 5/3650d")) {
			Policy policy = Policy.of("api", algorithm,
					Stream.of(limits.split(" ")).map(Limit::parse).toArray(Limit[]::new));
			List<LimitStatus> statuses = this.limiter.tryAcquire(policy, ALICE).statuses();
			long reset = statuses.get(statuses.size() - 1).resetAfter().toMillis();
			assertThat(timeToLive(policy)).isBetween(Math.max(1, reset - 2000), reset + 2);
			this.limiter.reset(policy, ALICE);
		}
	}

	/** Its time to live is in milliseconds, and what it holds in microseconds. */
	@Test
	void keyExpiresNoMicrosecondBeforeItNoLongerMatters() {
		Policy windows = Policy.of("windows", new FirstRequestWindow(), Limit.parse("5/h"));
		Policy log = Policy.of("log", new SlidingLog(), Limit.parse("5/h"));
		for (int i = 0; i < 60; i++) {
			Identifier identifier = Identifier.user("user" + i / 3);
			this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(windows, identifier), Charge.of(log, identifier)));
			assertThat(TestRedis.expiry(key(windows, identifier)))
				.isEqualTo(TestRedis.millisAfter(this.limiter.series(windows, identifier).get(0).end()));
			assertThat(TestRedis.expiry(key(log, identifier))).isEqualTo(TestRedis
				.millisAfter(this.limiter.entries(log, identifier).get(0).time().plus(Duration.ofHours(1))));
		}
	}

	@Test
	void logExpiresAWindowAfterItsNewestRequest() {
		Policy policy = Policy.of("api", new SlidingLog(), Limit.parse("5/m"), Limit.parse("5/h"));
		this.clocked.tryAcquire(policy, ALICE);
		this.clock.advance(Duration.ofMinutes(30));
		this.clocked.tryAcquire(policy, ALICE);
		assertThat(timeToLive(policy)).isBetween(3_598_000L, 3_600_002L);
		this.clocked.refund(RateLimitRequest.of(policy, ALICE));
		assertThat(timeToLive(policy)).isBetween(1_798_000L, 1_800_002L);
	}

	@Test
	void windowsExpireWithTheLastToEnd() {
		this.clock.set("2026-03-01T12:50:00Z");
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/40m"), Limit.parse("5/h"));
		assertThat(this.clocked.tryAcquire(policy, ALICE).statuses()).extracting(LimitStatus::resetAfter)
			.containsExactly(Duration.ofMinutes(30), Duration.ofMinutes(10));
		assertThat(timeToLive(policy)).isBetween(1_798_000L, 1_800_002L);
	}

	/** Kept windows of a future that was none would keep it for as long. */
	@Test
	void keptWindowsExpireWhenTheClockWasSetBack() {
		this.clock.set("2026-03-01T12:30:00Z");
		Policy policy = Policy.of("api", new FixedWindow(3, ZoneOffset.UTC), Limit.parse("5/h"));
		this.clock.advance(Duration.ofDays(1000));
		for (int i = 0; i < 4; i++) {
			this.clocked.tryAcquire(policy, ALICE);
			this.clock.advance(Duration.ofHours(1));
		}
		this.clock.set("2026-03-01T12:30:00Z");
		this.clocked.tryAcquire(policy, ALICE);
		assertThat(timeToLive(policy)).isBetween(Duration.ofHours(3).toMillis() - 2000,
				Duration.ofHours(3).toMillis() + 2);
	}

	/** The next day, for which the window is kept, has 25 or 27 hours. */
	@ParameterizedTest
	@CsvSource({ "Europe/Paris, 2026-10-24T10:00:00Z, 2026-10-25T23:00:00Z",
			"Antarctica/Casey, 2022-03-11T02:00:00Z, 2022-03-12T16:00:00Z" })
	void keptDayLastsForTheWholeNextDay(String zone, Instant used, Instant nextEnd) {
		this.clock.set(used.toString());
		Policy policy = Policy.of("api", new FixedWindow(2, ZoneId.of(zone)), Limit.parse("5/d"));
		this.clocked.tryAcquire(policy, ALICE);
		long kept = Duration.between(used, nextEnd).toMillis();
		assertThat(timeToLive(policy)).isBetween(kept - 2000, kept + Duration.ofHours(3).toMillis());
	}

	/** What was used last was refunded, so that the window before is the newest. */
	@Test
	void windowsOfTheFutureExpireAfterADeniedRequest() {
		this.clock.set("2027-03-01T12:00:00Z");
		Policy policy = Policy.of("api", new FixedWindow(3, ZoneOffset.UTC), Limit.parse("5/h"));
		this.clocked.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofHours(1));
		this.clocked.tryAcquire(policy, ALICE);
		this.clocked.refund(RateLimitRequest.of(policy, ALICE));
		this.clock.set("2026-03-01T12:30:00Z");
		Policy nothing = Policy.of("nothing", new FixedWindow(), Limit.parse("0/h"));
		assertThat(this.clocked.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(nothing, ALICE)))
			.allowed()).isFalse();
		// One window from now, and two for which it is kept.
		assertThat(keys()).hasSize(1);
		assertThat(timeToLive(policy)).isBetween(10_790_000L, 10_800_000L);
	}

	@Test
	void everyKeyExpiresAfterARequestOfManyPolicies() {
		List<Charge> charges = algorithms()
			.flatMap((algorithm) -> IntStream.range(0, 5)
				.mapToObj((i) -> Policy.of(algorithm.code() + i, algorithm, Limit.parse("9/h"), Limit.parse("10/d"))))
			.map((policy) -> Charge.of(policy, ALICE, ADDRESS))
			.toList();
		RateLimitRequest request = new RateLimitRequest(charges);
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		this.limiter.refund(request);
		Set<String> keys = keys();
		assertThat(keys).hasSize(charges.size() * 2);
		assertThat(keys).allSatisfy((key) -> assertThat(this.jedis.pttl(key)).isBetween(1L, LONGEST_TTL));
	}

	@Test
	void requestsOfASubWindowShareAnEntry() {
		Policy policy = Policy.of("api", new SlidingWindow(Duration.ofSeconds(1)), Limit.parse("100/m"));
		this.clocked.tryAcquire(policy, ALICE);
		long length = this.jedis.strlen(key(policy, ALICE));
		for (int i = 0; i < 9; i++) {
			this.clocked.tryAcquire(policy, ALICE);
			this.clock.advance(Duration.ofMillis(111));
		}
		assertThat(this.jedis.strlen(key(policy, ALICE))).isEqualTo(length);
		this.clock.advance(Duration.ofMillis(1));
		this.clocked.tryAcquire(policy, ALICE);
		assertThat(this.jedis.strlen(key(policy, ALICE))).isGreaterThan(length);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundKeepsNoKeyAliveForLonger(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("100/3650d"));
		this.limiter.tryAcquire(policy, ALICE, 7);
		for (int i = 0; i < 6; i++) {
			long before = timeToLive(policy);
			this.limiter.refund(RateLimitRequest.of(policy, ALICE));
			assertThat(timeToLive(policy)).isBetween(1L, before);
		}
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		assertThat(keys()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void resetAndRefundOfNothingLeaveNoKey(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/d"));
		this.limiter.refund(RateLimitRequest.of(policy, ALICE, ADDRESS));
		assertThat(keys()).isEmpty();
		this.limiter.tryAcquire(RateLimitRequest.of(policy, ALICE, ADDRESS));
		this.limiter.reset(policy, ALICE);
		assertThat(keys()).containsExactly(key(policy, ADDRESS));
		this.limiter.reset(policy, ADDRESS);
		assertThat(keys()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void keyExpiresSoonerWhenTheClockWasSetBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/h"));
		Instant tomorrow = Instant.EPOCH.plus(TestRedis.micros(), ChronoUnit.MICROS).plus(1, ChronoUnit.DAYS);
		this.clock.set(tomorrow.toString());
		this.clocked.tryAcquire(policy, ALICE);
		this.jedis.pexpire(key(policy, ALICE), Duration.ofDays(1).toMillis());
		this.limiter.tryAcquire(policy, ALICE);
		assertThat(timeToLive(policy)).isBetween(1L, Duration.ofHours(2).toMillis() + 2);
	}

	/** Its expiry is not always written again. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void keyNeverExpiresWhileItMatters(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("100000/60ms"), Limit.parse("100000/100ms"));
		boolean untilReset = algorithm instanceof FixedWindow || algorithm instanceof FirstRequestWindow
				|| algorithm instanceof LeakyBucket || algorithm instanceof TokenBucket;
		for (int i = 0; i < 1000; i++) {
			long before = TestRedis.micros();
			Duration reset = this.limiter.tryAcquire(policy, ALICE).statuses().get(1).resetAfter();
			Duration matters = untilReset ? reset : Duration.ofMillis(100);
			assertThat(Math.max(1000 * TestRedis.expiry(key(policy, ALICE)), TestRedis.micros()))
				.isGreaterThanOrEqualTo(before + TimeUnit.NANOSECONDS.toMicros(matters.toNanos()));
		}
	}

	static Stream<Arguments> harms() {
		return algorithms().flatMap((algorithm) -> Stream.of("list", "hash", "empty", "short", "long", "huge")
			.map((harm) -> Arguments.of(algorithm, harm)));
	}

	@ParameterizedTest
	@MethodSource("harms")
	void keyOfAnotherMakingIsReplaced(Algorithm algorithm, String harm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/h"), Limit.parse("5/d"));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE).withCost(5));
		harm(key(policy, ALICE), harm);
		assertThat(this.limiter.peek(request).allowed()).isTrue();
		assertThat(timeToLive(policy)).isEqualTo(-1);
		this.limiter.refund(request);
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		assertThat(timeToLive(policy)).isBetween(1L, LONGEST_TTL);
	}

	private void harm(String key, String harm) {
		switch (harm) {
			case "list" -> this.jedis.lpush(key, "1", "2");
			case "hash" -> this.jedis.hset(key, Map.of("count", "5"));
			case "empty" -> this.jedis.set(key, "");
			case "short" -> this.jedis.set(key, "4");
			case "long" -> this.jedis.set(key, "x".repeat(30));
			default -> this.jedis.set(key, "x".repeat(1_000_003));
		}
	}

	private long timeToLive(Policy policy) {
		return this.jedis.pttl(key(policy, ALICE));
	}

	private String key(Policy policy, Identifier identifier) {
		return new KeyNames(this.keyPrefix).key(identifier, policy);
	}

	private Set<String> keys() {
		return this.jedis.keys(this.keyPrefix + ":*");
	}

}
