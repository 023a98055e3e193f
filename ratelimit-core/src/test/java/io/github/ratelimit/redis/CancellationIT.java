package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reservation of a request that was denied elsewhere is cancelled. What others have
 * counted in the meantime stays as if it had never been there.
 */
class CancellationIT extends RedisFixture {

	private static final Identifier NEVER_HELD = Identifier.user("never");

	private final Reservations reservations = new Reservations(TestRedis.connections(), this.keyPrefix, this.clock);

	@EachAlgorithm
	void othersAreUnchanged(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/d", "100/30d");
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
		Policy policy = policy(algorithm, "10/d", "100/30d");
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
		Policy policy = policy(new LeakyBucket(), "24/d");
		long reserved = reserve(policy, 3);
		this.clock.advance(Duration.ofHours(2));
		acquire(policy, 20);
		cancel(policy, 3, reserved);
		assertThat(remaining(this.clocked, policy, NEVER_HELD)).containsExactly(4L);
		assertThat(remaining(this.clocked, policy, ALICE)).containsExactly(6L);
	}

	@Test
	void metadataOfOthersStays() {
		Policy policy = policy(new SlidingLog(true), "10/d");
		this.clocked.tryAcquire(RateLimitRequest.of(policy, ALICE).withMetadata("first"));
		this.clock.advance(Duration.ofHours(1));
		long reserved = reserve(policy, 2);
		this.clock.advance(Duration.ofHours(1));
		this.clocked.tryAcquire(RateLimitRequest.of(policy, ALICE).withMetadata("second"));
		this.clocked.tryAcquire(RateLimitRequest.of(policy, ALICE).withMetadata("third"));
		cancel(policy, 2, reserved);
		assertThat(this.clocked.entries(policy, ALICE)).extracting(LogEntry::metadata)
			.containsExactly("third", "second", "first");
	}

	/** What was reset and counted again is not cancelled. */
	@Test
	void othersAreUnchangedAfterReset() {
		for (Policy policy : List.of(policy("log", new SlidingLog(), "10/d"),
				policy("window", new FixedWindow(), "10/h"))) {
			long reserved = reserve(policy, 2);
			this.clocked.reset(policy, ALICE);
			this.clock.advance(Duration.ofHours(2));
			this.clocked.tryAcquire(policy, ALICE, 3);
			cancel(policy, 2, reserved);
			assertThat(remaining(this.clocked, policy, ALICE)).containsExactly(7L);
		}
	}

	private void acquire(Policy policy, long cost) {
		assertThat(this.clocked.tryAcquire(policy, ALICE, cost).allowed()).isTrue();
		assertThat(this.clocked.tryAcquire(policy, NEVER_HELD, cost).allowed()).isTrue();
	}

	/** Also later, when what was counted leaves its windows. */
	private void assertSame(Policy policy) {
		for (int i = 0; i < 60; i++) {
			for (long cost : List.of(1L, 7L, 10L)) {
				assertThat(peek(policy, ALICE, cost)).usingRecursiveComparison()
					.ignoringFields("identifier")
					.as(this.clock.instant() + " " + cost)
					.isEqualTo(peek(policy, NEVER_HELD, cost));
			}
			this.clock.advance(Duration.ofMinutes(61));
		}
	}

	private List<LimitStatus> peek(Policy policy, Identifier identifier, long cost) {
		return this.clocked.peek(RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost))).statuses();
	}

	private long reserve(Policy policy, long cost) {
		Answer answer = this.reservations.reserve(request(policy, cost));
		assertThat(answer.decision().allowed()).isTrue();
		return answer.reservedAt();
	}

	private void cancel(Policy policy, long cost, long reserved) {
		this.reservations.cancel(request(policy, cost), Scope.ALL, reserved);
	}

}
