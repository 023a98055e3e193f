package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of Redis keys, by the server's own clock: each expires when it no longer
 * matters.
 */
class KeyExpiryIT extends RedisFixture {

	/** Two windows of a day, because some algorithms look back to the window before. */
	private static final long LONGEST_TTL = 2 * 86_400_002L;

	static Stream<Algorithm> algorithms() {
		return RateLimiterContract.algorithms();
	}

	private void assertLives(Policy policy, Duration time) {
		assertThat(timeToLive(policy)).isBetween(Math.max(1, time.toMillis() - 2000), time.toMillis() + 2);
	}

	@EachAlgorithm
	void keyExpiresWhenItsLongestWindowEnds(Algorithm algorithm) {
		for (String limits : List.of("100/d", "100/7d", "100/90d", "100/3650d", "2/ms 3/s 5/3650d")) {
			Policy policy = policy(algorithm, limits.split(" "));
			List<LimitStatus> statuses = this.limiter.tryAcquire(policy, ALICE).statuses();
			assertLives(policy, statuses.get(statuses.size() - 1).resetAfter());
			this.limiter.reset(policy, ALICE);
		}
	}

	/** Its time to live is in milliseconds, and what it holds in microseconds. */
	@Test
	void keyExpiresNoMicrosecondBeforeItNoLongerMatters() {
		Policy windows = policy("windows", new FirstRequestWindow(), "5/h");
		Policy log = policy("log", new SlidingLog(), "5/h");
		for (int i = 0; i < 60; i++) {
			Identifier identifier = Identifier.user("user" + i / 3);
			this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(windows, identifier), Charge.of(log, identifier)));
			assertThat(TestRedis.expiry(this.keys.key(identifier, windows)))
				.isEqualTo(TestRedis.millisAfter(this.limiter.series(windows, identifier).get(0).end()));
			assertThat(TestRedis.expiry(this.keys.key(identifier, log))).isEqualTo(TestRedis
				.millisAfter(this.limiter.entries(log, identifier).get(0).time().plus(Duration.ofHours(1))));
		}
	}

	@Test
	void logExpiresAWindowAfterItsNewestRequest() {
		Policy policy = policy(new SlidingLog(), "5/m", "5/h");
		this.clocked.tryAcquire(policy, ALICE);
		this.clock.advance(Duration.ofMinutes(30));
		this.clocked.tryAcquire(policy, ALICE);
		assertLives(policy, Duration.ofHours(1));
		this.clocked.refund(request(policy, 1));
		assertLives(policy, Duration.ofMinutes(30));
	}

	@Test
	void windowsExpireWithTheLastToEnd() {
		this.clock.set("2026-03-01T12:50:00Z");
		Policy policy = policy(new FixedWindow(), "5/40m", "5/h");
		assertThat(this.clocked.tryAcquire(policy, ALICE).statuses()).extracting(LimitStatus::resetAfter)
			.containsExactly(Duration.ofMinutes(30), Duration.ofMinutes(10));
		assertLives(policy, Duration.ofMinutes(30));
	}

	/** Kept windows of a future that was none would keep it for as long. */
	@Test
	void keptWindowsExpireWhenTheClockWasSetBack() {
		this.clock.set("2026-03-01T12:30:00Z");
		Policy policy = policy(new FixedWindow(3, ZoneOffset.UTC), "5/h");
		this.clock.advance(Duration.ofDays(1000));
		for (int i = 0; i < 4; i++) {
			this.clocked.tryAcquire(policy, ALICE);
			this.clock.advance(Duration.ofHours(1));
		}
		this.clock.set("2026-03-01T12:30:00Z");
		this.clocked.tryAcquire(policy, ALICE);
		assertLives(policy, Duration.ofHours(3));
	}

	/** The next day, for which the window is kept, has 25 or 27 hours. */
	@ParameterizedTest
	@CsvSource({ "Europe/Paris, 2026-10-24T10:00:00Z, 2026-10-25T23:00:00Z",
			"Antarctica/Casey, 2022-03-11T02:00:00Z, 2022-03-12T16:00:00Z" })
	void keptDayLastsForTheWholeNextDay(String zone, Instant used, Instant nextEnd) {
		this.clock.set(used.toString());
		Policy policy = policy(new FixedWindow(2, ZoneId.of(zone)), "5/d");
		this.clocked.tryAcquire(policy, ALICE);
		long kept = Duration.between(used, nextEnd).toMillis();
		assertThat(timeToLive(policy)).isBetween(kept - 2000, kept + Duration.ofHours(3).toMillis());
	}

	@Test
	void monthExpiresWhenItEnds() {
		this.clock.set("2027-02-10T00:00:00Z");
		Policy policy = policy(new FixedWindow(1, ZoneId.of("Europe/Berlin")), "5/month");
		this.clocked.tryAcquire(policy, ALICE);
		assertLives(policy, Duration.parse("P18DT23H"));
	}

	/** What was used last was refunded, so that the window before is the newest. */
	@Test
	void windowsOfTheFutureExpireAfterADeniedRequest() {
		this.clock.set("2027-03-01T12:00:00Z");
		Policy policy = policy(new FixedWindow(3, ZoneOffset.UTC), "5/h");
		this.clocked.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofHours(1));
		this.clocked.tryAcquire(policy, ALICE);
		this.clocked.refund(request(policy, 1));
		this.clock.set("2026-03-01T12:30:00Z");
		Policy nothing = policy("nothing", new FixedWindow(), "0/h");
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
				.mapToObj((i) -> policy(algorithm.code() + i, algorithm, "9/h", "10/d")))
			.map((policy) -> Charge.of(policy, ALICE, ADDRESS))
			.toList();
		RateLimitRequest request = new RateLimitRequest(charges);
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		this.limiter.refund(request);
		assertThat(keys()).hasSize(charges.size() * 2)
			.allSatisfy((key) -> assertThat(this.jedis.pttl(key)).isBetween(1L, LONGEST_TTL));
	}

	@Test
	void requestsOfASubWindowShareAnEntry() {
		Policy policy = policy(new SlidingWindow(Duration.ofSeconds(1)), "100/m");
		this.clock.set("2026-03-01T12:00:00Z");
		this.clocked.tryAcquire(policy, ALICE);
		long length = this.jedis.strlen(key(policy));
		for (int i = 0; i < 9; i++) {
			this.clocked.tryAcquire(policy, ALICE);
			this.clock.advance(Duration.ofMillis(111));
		}
		assertThat(this.jedis.strlen(key(policy))).isEqualTo(length);
		this.clock.advance(Duration.ofMillis(1));
		this.clocked.tryAcquire(policy, ALICE);
		assertThat(this.jedis.strlen(key(policy))).isGreaterThan(length);
	}

	@EachAlgorithm
	void refundAndResetKeepNoKeyAliveForLonger(Algorithm algorithm) {
		Policy policy = policy(algorithm, "100/3650d");
		this.limiter.refund(RateLimitRequest.of(policy, ALICE, ADDRESS));
		assertThat(keys()).isEmpty();
		this.limiter.tryAcquire(policy, ALICE, 7);
		for (int i = 0; i < 6; i++) {
			long before = timeToLive(policy);
			this.limiter.refund(request(policy, 1));
			assertThat(timeToLive(policy)).isBetween(1L, before);
		}
		this.limiter.refund(request(policy, 1));
		assertThat(keys()).isEmpty();
		this.limiter.tryAcquire(RateLimitRequest.of(policy, ALICE, ADDRESS));
		this.limiter.reset(policy, ADDRESS);
		assertThat(keys()).containsExactly(key(policy));
		this.limiter.reset(policy, ALICE);
		assertThat(keys()).isEmpty();
	}

	@EachAlgorithm
	void keyExpiresSoonerWhenTheClockWasSetBack(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/h");
		Instant tomorrow = Instant.EPOCH.plus(TestRedis.micros(), ChronoUnit.MICROS).plus(1, ChronoUnit.DAYS);
		this.clock.set(tomorrow.toString());
		this.clocked.tryAcquire(policy, ALICE);
		this.jedis.pexpire(key(policy), Duration.ofDays(1).toMillis());
		this.limiter.tryAcquire(policy, ALICE);
		assertThat(timeToLive(policy)).isBetween(1L, Duration.ofHours(2).toMillis() + 2);
	}

	@EachAlgorithm
	void keyNeverExpiresWhileItMatters(Algorithm algorithm) {
		Policy policy = policy(algorithm, "100000/60ms", "100000/100ms");
		boolean untilReset = algorithm instanceof FixedWindow || algorithm instanceof FirstRequestWindow
				|| algorithm instanceof LeakyBucket || algorithm instanceof TokenBucket;
		for (int i = 0; i < 1000; i++) {
			long before = TestRedis.micros();
			Duration reset = this.limiter.tryAcquire(policy, ALICE).statuses().get(1).resetAfter();
			Duration matters = untilReset ? reset : Duration.ofMillis(100);
			assertThat(Math.max(1000 * TestRedis.expiry(key(policy)), TestRedis.micros()))
				.isGreaterThanOrEqualTo(before + TimeUnit.NANOSECONDS.toMicros(matters.toNanos()));
		}
	}

}
