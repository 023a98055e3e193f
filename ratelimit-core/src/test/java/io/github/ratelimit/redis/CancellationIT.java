package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reservation of a request that was denied elsewhere is cancelled. What others have
 * counted in the meantime stays as if it had never been there.
 */
class CancellationIT {

	private static final Identifier RESERVED = Identifier.user("reserved");

	private static final Identifier NEVER_HELD = Identifier.user("never");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix)
		.withClock(this.clock);

	private final Reservations reservations = new Reservations(TestRedis.connections(), this.keyPrefix, this.clock);

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void othersAreUnchanged(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"), Limit.parse("100/30d"));
		acquire(policy, 2);
		this.clock.advance(Duration.ofHours(1));
		long reserved = reserve(policy, 3);
		this.clock.advance(Duration.ofHours(1));
		acquire(policy, 1);
		this.clock.advance(Duration.ofHours(1));
		cancel(policy, 3, reserved);
		assertSame(policy);
	}

	static Stream<Algorithm> windowsAndLogs() {
		return algorithms().filter((algorithm) -> !algorithm.script().equals("bucket"));
	}

	/** Not out of a window that it is not in. */
	@ParameterizedTest
	@MethodSource("windowsAndLogs")
	void othersAreUnchangedWhenAWindowHasEnded(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"), Limit.parse("100/30d"));
		acquire(policy, 4);
		this.clock.advance(Duration.ofHours(11).plusMinutes(59));
		long reserved = reserve(policy, 3);
		this.clock.advance(Duration.ofMinutes(1));
		acquire(policy, 2);
		this.clock.advance(Duration.ofHours(13));
		acquire(policy, 2);
		cancel(policy, 3, reserved);
		assertSame(policy);
	}

	/** The bucket would have been empty, but what was reserved has drained instead. */
	@Test
	void bucketAdmitsAtMostWhatWasReservedBesides() {
		Policy policy = Policy.of("api", new LeakyBucket(), Limit.parse("24/d"));
		long reserved = reserve(policy, 3);
		this.clock.advance(Duration.ofHours(2));
		acquire(policy, 20);
		cancel(policy, 3, reserved);
		assertThat(remaining(policy, NEVER_HELD)).isEqualTo(4);
		assertThat(remaining(policy, RESERVED)).isEqualTo(6);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void nothingIsLeftWhenNobodyElseHasCounted(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"));
		long reserved = reserve(policy, 10);
		cancel(policy, 10, reserved);
		assertThat(TestRedis.client().keys(this.keyPrefix + ":*")).isEmpty();
	}

	@Test
	void metadataOfOthersStays() {
		Policy policy = Policy.of("api", new SlidingLog(true), Limit.parse("10/d"));
		this.limiter.tryAcquire(RateLimitRequest.of(policy, RESERVED).withMetadata("first"));
		this.clock.advance(Duration.ofHours(1));
		long reserved = reserve(policy, 2);
		this.clock.advance(Duration.ofHours(1));
		this.limiter.tryAcquire(RateLimitRequest.of(policy, RESERVED).withMetadata("second"));
		this.limiter.tryAcquire(RateLimitRequest.of(policy, RESERVED).withMetadata("third"));
		cancel(policy, 2, reserved);
		assertThat(this.limiter.entries(policy, RESERVED)).extracting(LogEntry::metadata)
			.containsExactly("third", "second", "first");
	}

	/** What was reset and counted again is not cancelled. */
	@Test
	void othersAreUnchangedAfterReset() {
		for (Policy policy : List.of(Policy.of("log", new SlidingLog(), Limit.parse("10/d")),
				Policy.of("window", new FixedWindow(), Limit.parse("10/h")))) {
			long reserved = reserve(policy, 2);
			this.limiter.reset(policy, RESERVED);
			this.clock.advance(Duration.ofHours(2));
			this.limiter.tryAcquire(policy, RESERVED, 3);
			cancel(policy, 2, reserved);
			assertThat(remaining(policy, RESERVED)).isEqualTo(7);
		}
	}

	private void acquire(Policy policy, long cost) {
		assertThat(this.limiter.tryAcquire(policy, RESERVED, cost).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, NEVER_HELD, cost).allowed()).isTrue();
	}

	/** Also later, when what was counted leaves its windows. */
	private void assertSame(Policy policy) {
		for (int i = 0; i < 60; i++) {
			for (long cost : List.of(1L, 7L, 10L)) {
				assertThat(status(policy, RESERVED, cost).statuses()).usingRecursiveComparison()
					.ignoringFields("identifier")
					.as(this.clock.instant() + " " + cost)
					.isEqualTo(status(policy, NEVER_HELD, cost).statuses());
			}
			this.clock.advance(Duration.ofMinutes(61));
		}
	}

	private Decision status(Policy policy, Identifier identifier, long cost) {
		return this.limiter.peek(request(policy, identifier, cost));
	}

	private long remaining(Policy policy, Identifier identifier) {
		return status(policy, identifier, 1).statuses().get(0).remaining();
	}

	private long reserve(Policy policy, long cost) {
		Answer answer = this.reservations.reserve(request(policy, RESERVED, cost));
		assertThat(answer.decision().allowed()).isTrue();
		return answer.reservedAt();
	}

	private void cancel(Policy policy, long cost, long reserved) {
		this.reservations.cancel(request(policy, RESERVED, cost), Scope.ALL, reserved);
	}

	private static RateLimitRequest request(Policy policy, Identifier identifier, long cost) {
		return RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
	}

}
