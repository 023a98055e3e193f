package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is true of buckets, above all of one whose quota changes while it is in use.
 */
public abstract class BucketContract extends RateLimiterContract {

	@ParameterizedTest
	@CsvSource({ "10/m, 5/m", "10/m, 1/m", "5/m, 10/m", "7/m, 3/m", "94906265/m, 1/m", "1/m, 94906265/m",
			"94906265/d, 94906264/d" })
	void changedQuotaLeavesAsManyTokensAsThereWere(String before, String after) {
		for (long used = 0; used <= 10; used++) {
			Policy policy = bucket(10, before);
			this.limiter.reset(policy, ALICE);
			this.limiter.tryAcquire(policy, ALICE, used);
			assertThat(remaining(policy, ALICE)).containsExactly(10 - used);
			assertThat(remaining(withLimit(policy, after), ALICE)).containsExactly(10 - used);
			assertThat(this.limiter.tryAcquire(withLimit(policy, after), ALICE, 11 - used).allowed()).isFalse();
			assertThat(this.limiter.tryAcquire(withLimit(policy, after), ALICE, 10 - used).allowed()).isTrue();
			assertThat(remaining(policy, ALICE)).containsExactly(0L);
		}
	}

	@Test
	void changedQuotaAppliesFromTheNextRequestOn() {
		Policy policy = bucket(10, "10/m");
		Policy lowered = withLimit(policy, "1/m");
		this.limiter.tryAcquire(policy, ALICE, 10);
		assertThat(this.limiter.tryAcquire(lowered, ALICE).retryAfter()).contains(Duration.ofMinutes(1));
		assertAllowedAfter(Duration.ofMinutes(1), lowered, 1);
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofSeconds(6));
	}

	static Stream<Arguments> versions() {
		return Stream.of(Arguments.of(List.of(bucket(10, "1/m"), bucket(10, "10/m"), bucket(10, "7/m")), 10),
				Arguments.of(List.of(bucket(10, "1/m"), bucket(20, "1/m")), 30));
	}

	/** As while a new version of an application replaces the old one. */
	@ParameterizedTest
	@MethodSource("versions")
	void bucketsThatTakeTurnsMintNothing(List<Policy> versions, int most) {
		int allowed = 0;
		for (int i = 0; i < 300; i++) {
			allowed += this.limiter.tryAcquire(versions.get(i % versions.size()), ALICE).allowed() ? 1 : 0;
		}
		assertThat(allowed).isEqualTo(most);
	}

	@Test
	void partsOfATokenSurviveAChangedQuota() {
		Policy policy = bucket(10, "7/m");
		this.limiter.tryAcquire(policy, ALICE, 10);
		this.clock.advance(Duration.ofNanos(1_234_567_000));
		Duration before = status(policy, ALICE).resetAfter();
		for (String quota : List.of("3/m", "11/m", "94906265/m", "13/m", "1/m", "7/m")) {
			this.limiter.tryAcquire(withLimit(policy, quota), ALICE, 10);
		}
		assertThat(status(policy, ALICE).resetAfter()).isEqualTo(before);
	}

	@Test
	void refundAfterAChangedQuotaGivesBackAsManyTokens() {
		Policy policy = bucket(10, "10/m");
		this.limiter.tryAcquire(policy, ALICE, 10);
		this.limiter.refund(request(withLimit(policy, "3/m"), 4));
		assertThat(remaining(policy, ALICE)).containsExactly(4L);
	}

	@Test
	void clockSetBackFillsBucketOfAnotherQuotaAtMost() {
		Policy policy = bucket(10, "10/m");
		this.clock.advance(Duration.ofDays(36_500));
		this.limiter.tryAcquire(policy, ALICE, 1);
		this.clock.advance(Duration.ofDays(-36_500));
		Policy raised = withLimit(policy, "94906265/m");
		assertThat(remaining(raised, ALICE)).containsExactly(0L);
		assertThat(status(raised, ALICE).resetAfter()).isEqualTo(Duration.ofNanos(1000));
		assertThat(remaining(policy, ALICE)).containsExactly(0L);
		assertThat(status(policy, ALICE).resetAfter()).isEqualTo(Duration.ofSeconds(6));
	}

	/** And takes the same time until it is empty. */
	@ParameterizedTest
	@ValueSource(strings = { "5/m", "20/m", "1000/m" })
	void bucketAsLargeAsTheQuotaKeepsItsShare(String after) {
		for (Policy policy : List.of(policy(new LeakyBucket(), "10/m"), policy(new TokenBucket(), "10/m"))) {
			Policy changed = withLimit(policy, after);
			this.limiter.tryAcquire(policy, ALICE, 6);
			long quota = changed.limits().get(0).quota();
			assertThat(remaining(changed, ALICE)).containsExactly(quota * 4 / 10);
			assertThat(this.limiter.peek(request(changed, quota)).retryAfter()).contains(Duration.ofSeconds(36));
		}
	}

	static Stream<Policy> buckets() {
		return Stream.of(policy(new LeakyBucket(), "7/m"), policy(new LeakyBucket(), "7/m", "11/h"),
				policy(new TokenBucket(), "7/m"), bucket(5, "7/m"));
	}

	/** Nothing may be lost when a quota is 0 for a while, whatever is asked then. */
	@ParameterizedTest
	@MethodSource("buckets")
	void quotaOfZeroForgetsNothing(Policy policy) {
		Policy none = withQuotas(policy, true);
		Policy first = withQuotas(policy, false);
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofNanos(1_234_567_000));
		RateLimitRequest all = request(policy, 5);
		Decision before = this.limiter.peek(all);
		for (Policy zero : List.of(none, first.withCountDenied(true))) {
			assertThat(remaining(zero, ALICE)).startsWith(0L);
			assertThat(this.limiter.tryAcquire(zero, ALICE).allowed()).isFalse();
			this.limiter.tryAcquire(zero, ALICE, 0);
			if (zero == none) {
				this.limiter.charge(request(zero, 3));
			}
			assertThat(this.limiter.peek(all)).isEqualTo(before);
		}
		this.limiter.refund(request(none, 1));
		assertThat(this.limiter.peek(all).statuses().get(0).remaining())
			.isLessThanOrEqualTo(before.statuses().get(0).remaining() + 1);
		assertThat(this.limiter.tryAcquire(all).allowed()).isFalse();
	}

	@Test
	void chargeBesideALimitOfZeroForgetsNothing() {
		Policy policy = policy(new LeakyBucket(), "7/m", "100/h");
		Policy first = withQuotas(policy, false);
		this.limiter.tryAcquire(policy, ALICE, 5);
		Duration wait = waitFor(policy, 7);
		this.limiter.charge(request(first, 2));
		assertThat(waitFor(policy, 7)).isEqualTo(wait);
		assertThat(remaining(policy, ALICE)).containsExactly(2L, 93L);
		this.limiter.refund(request(first, 1));
		assertThat(remaining(policy, ALICE)).containsExactly(2L, 94L);
	}

	@Test
	void clockSetBackAtQuotaZeroFillsBucketAtMost() {
		for (Policy policy : buckets().toList()) {
			this.clock.advance(Duration.ofDays(1000));
			this.limiter.tryAcquire(policy, ALICE, 5);
			this.clock.advance(Duration.ofDays(-1000));
			this.limiter.tryAcquire(withQuotas(policy, true), ALICE);
			this.clock.advance(Duration.ofHours(1));
			assertThat(remaining(policy, ALICE))
				.isEqualTo(policy.limits().stream().map((limit) -> policy.algorithm().largestCost(limit)).toList());
		}
	}

	private static Policy withQuotas(Policy policy, boolean allZero) {
		return policy.withLimits(policy.limits()
			.stream()
			.map((limit) -> (allZero || limit == policy.limits().get(0)) ? new Limit(0, limit.window()) : limit)
			.toList());
	}

	@Test
	void bucketIsNeverMoreThanFull() {
		for (Policy policy : List.of(policy(new LeakyBucket(), "3/s"), bucket(4, "3/s"))) {
			Policy strict = policy.withCountDenied(true);
			long size = policy.algorithm().largestCost(policy.limits().get(0));
			this.limiter.tryAcquire(strict, ALICE, size);
			Duration whenFull = waitFor(policy, size);
			for (int i = 0; i < 5; i++) {
				this.clock.advance(Duration.ofNanos(333_333_000));
				assertThat(this.limiter.tryAcquire(strict, ALICE).allowed()).isFalse();
				assertThat(waitFor(strict, size)).isEqualTo(whenFull);
			}
		}
	}

	/** It cannot be told how much of it is of the time ahead. */
	@ParameterizedTest
	@MethodSource("buckets")
	void overfullBucketIsFullWhenTheClockIsSetBack(Policy policy) {
		long size = policy.algorithm().largestCost(policy.limits().get(0));
		RateLimitRequest all = request(policy, size);
		this.limiter.tryAcquire(all);
		Duration whenFull = waitFor(policy, size);
		this.limiter.reset(policy, ALICE);
		this.clock.advance(Duration.ofDays(1));
		this.limiter.charge(all);
		this.limiter.charge(all);
		assertThat(waitFor(policy, size)).isGreaterThan(whenFull);
		for (Duration back : List.of(Duration.ofNanos(1000), Duration.ofSeconds(1), Duration.ofDays(1))) {
			this.clock.advance(back.negated());
			assertThat(waitFor(policy, size)).isEqualTo(whenFull);
			assertThat(this.limiter.tryAcquire(all).allowed()).isFalse();
		}
		this.clock.advance(whenFull);
		assertThat(waitFor(policy, size)).isZero();
	}

	/** Whatever it is in parts of a microsecond, and however often it is looked at. */
	@ParameterizedTest
	@MethodSource("buckets")
	void bucketIsAtMostTwiceFullAndDrainsEvenly(Policy policy) {
		long size = policy.algorithm().largestCost(policy.limits().get(0));
		this.limiter.tryAcquire(policy, ALICE, size);
		Duration whenFull = waitFor(policy, 1);
		for (int i = 0; i < 5; i++) {
			this.limiter.charge(request(policy, size));
		}
		this.limiter.refund(request(policy, size));
		assertThat(waitFor(policy, 1)).isEqualTo(whenFull);
		this.limiter.charge(request(policy, 2));
		this.limiter.tryAcquire(policy.withCountDenied(true), ALICE, 1);
		this.clock.advance(Duration.ofNanos(333_333_000));
		this.limiter.refund(request(policy, 2));
		assertThat(waitFor(policy, 1)).isEqualTo(whenFull.minusNanos(333_333_000));
	}

	private static Policy bucket(long burst, String limit) {
		return policy(new TokenBucket(burst), limit);
	}

}
