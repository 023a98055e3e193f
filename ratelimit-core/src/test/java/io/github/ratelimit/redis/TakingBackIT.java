package io.github.ratelimit.redis;

import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Scope;
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
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request that was denied elsewhere is taken back here. What others have counted in the
 * meantime stays as if it had never been there.
 */
class TakingBackIT {

	private static final Identifier HELD = Identifier.user("held");

	private static final Identifier NEVER_HELD = Identifier.user("never");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix)
		.withClock(this.clock);

	private final Holding holding = new Holding(TestRedis.connections(), this.keyPrefix, this.clock);

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void othersStayAsTheyAre(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"), Limit.parse("100/30d"));
		acquire(policy, 2);
		this.clock.advance(Duration.ofHours(1));
		long held = hold(policy, 3);
		this.clock.advance(Duration.ofHours(1));
		acquire(policy, 1);
		this.clock.advance(Duration.ofHours(1));
		giveBack(policy, 3, held);
		assertSame(policy);
	}

	static Stream<Algorithm> windowsAndLogs() {
		return algorithms().filter((algorithm) -> !algorithm.script().equals("bucket"));
	}

	/** Not out of a window that it is not in. */
	@ParameterizedTest
	@MethodSource("windowsAndLogs")
	void othersStayAsTheyAreWhenAWindowHasEnded(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"), Limit.parse("100/30d"));
		acquire(policy, 4);
		this.clock.advance(Duration.ofHours(11).plusMinutes(59));
		long held = hold(policy, 3);
		this.clock.advance(Duration.ofMinutes(1));
		acquire(policy, 2);
		this.clock.advance(Duration.ofHours(13));
		acquire(policy, 2);
		giveBack(policy, 3, held);
		assertSame(policy);
	}

	static Stream<Algorithm> buckets() {
		return algorithms().filter((algorithm) -> algorithm.script().equals("bucket"));
	}

	/** The bucket would have been empty, but what was held has drained instead. */
	@ParameterizedTest
	@MethodSource("buckets")
	void bucketAllowsNoMoreThanWhatWasHeldBesides(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("24/d"));
		long held = hold(policy, 3);
		this.clock.advance(Duration.ofHours(2));
		acquire(policy, 20);
		giveBack(policy, 3, held);
		assertThat(status(policy, NEVER_HELD, 1).statuses().get(0).remaining()).isEqualTo(4);
		assertThat(status(policy, HELD, 1).statuses().get(0).remaining()).isEqualTo(6);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void nothingIsLeftWhenNobodyElseHasCounted(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"));
		long held = hold(policy, 10);
		giveBack(policy, 10, held);
		assertThat(TestRedis.client().keys(this.keyPrefix + ":*")).isEmpty();
	}

	@Test
	void metadataOfOthersStays() {
		Policy policy = Policy.of("api", new SlidingLog(true), Limit.parse("10/d"));
		this.limiter.tryAcquire(RateLimitRequest.of(policy, HELD).withMetadata("first"));
		this.clock.advance(Duration.ofHours(1));
		long held = hold(policy, 2);
		this.clock.advance(Duration.ofHours(1));
		this.limiter.tryAcquire(RateLimitRequest.of(policy, HELD).withMetadata("second"));
		this.limiter.tryAcquire(RateLimitRequest.of(policy, HELD).withMetadata("third"));
		giveBack(policy, 2, held);
		assertThat(this.limiter.entries(policy, HELD)).extracting(LogEntry::metadata)
			.containsExactly("third", "second", "first");
	}

	/** What was reset, and counted again since, is not taken back. */
	@Test
	void nothingOfOthersIsTakenAfterReset() {
		Policy log = Policy.of("log", new SlidingLog(), Limit.parse("10/d"));
		Policy window = Policy.of("window", new FixedWindow(), Limit.parse("10/h"));
		long held = hold(log, 2);
		hold(window, 2);
		this.limiter.reset(log, HELD);
		this.clock.advance(Duration.ofHours(2));
		this.limiter.tryAcquire(log, HELD, 3);
		this.limiter.tryAcquire(window, HELD, 3);
		giveBack(log, 2, held);
		giveBack(window, 2, held);
		assertThat(status(log, HELD, 1).statuses().get(0).remaining()).isEqualTo(7);
		assertThat(status(window, HELD, 1).statuses().get(0).remaining()).isEqualTo(7);
	}

	private void acquire(Policy policy, long cost) {
		assertThat(this.limiter.tryAcquire(policy, HELD, cost).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, NEVER_HELD, cost).allowed()).isTrue();
	}

	/** Also later, when what was counted leaves its windows. */
	private void assertSame(Policy policy) {
		for (int i = 0; i < 60; i++) {
			for (long cost : List.of(1L, 7L, 10L)) {
				assertThat(status(policy, HELD, cost).statuses()).usingRecursiveComparison()
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

	private long hold(Policy policy, long cost) {
		Answer answer = this.holding.hold(request(policy, HELD, cost));
		assertThat(answer.decision().allowed()).isTrue();
		return answer.heldAt();
	}

	private void giveBack(Policy policy, long cost, long held) {
		this.holding.cancel(request(policy, HELD, cost), Scope.ALL, held);
	}

	private static RateLimitRequest request(Policy policy, Identifier identifier, long cost) {
		return RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
	}

}
