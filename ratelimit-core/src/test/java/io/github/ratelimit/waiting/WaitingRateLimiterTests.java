package io.github.ratelimit.waiting;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Semaphore;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.EachAlgorithm;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A caller who waits alone, and what others do meanwhile.
 */
class WaitingRateLimiterTests extends WaitingCallers {

	@EachAlgorithm
	void callerWaitsExactlyAsLongAsTheDenialSays(Algorithm algorithm) throws InterruptedException {
		this.gate.countDown();
		Policy policy = twoLimits(algorithm);
		this.clock.advance(Duration.ofMillis(300));
		for (int i = 0; i < 10; i++) {
			Instant before = this.clock.instant();
			Duration wait = this.store.peek(request(policy, 3)).retryAfter().orElseThrow();
			this.calls.set(0);
			assertThat(acquire(policy, 3, wait).allowed()).isTrue();
			assertThat(Duration.between(before, this.clock.instant())).isEqualTo(wait);
			assertThat(this.calls).hasValue(wait.isZero() ? 1 : 2);
		}
	}

	@EachAlgorithm
	void callerThatCannotWaitSoLongIsDeniedAtOnce(Algorithm algorithm) throws InterruptedException {
		Policy policy = Policy.of("api", algorithm, Limit.parse("4/s"));
		acquire(policy, 4, LONG);
		Decision denied = this.store.peek(request(policy, 2));
		assertThat(acquire(policy, 2, denied.retryAfter().orElseThrow().minusNanos(1))).isEqualTo(denied);
		assertThat(acquire(policy, 2, Duration.ZERO)).isEqualTo(denied);
		assertThat(acquire(policy, 2, Duration.ofSeconds(-1))).isEqualTo(denied);
		assertThat(acquire(policy, 5, LONG).retryAfter()).isEmpty();
		assertThat(this.store.peek(request(policy, 2))).isEqualTo(denied);
	}

	@Test
	void othersWhoWereFasterAreWaitedForAgain() throws InterruptedException {
		this.gate.countDown();
		acquire(EACH_SECOND, 1, LONG);
		this.meanwhile = () -> {
			this.clock.advance(Duration.ofSeconds(1));
			this.store.tryAcquire(request(EACH_SECOND, 1));
			this.clock.advance(Duration.ofSeconds(-1));
		};
		Decision denied = acquire(EACH_SECOND, 1, Duration.ofMillis(2500));
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.source()).isEqualTo(Source.STORE);
		assertThat(passed()).hasSeconds(2);
		assertThat(this.calls).hasValue(4);
	}

	@Test
	void resetOfOthersIsNoticedAfterTenSeconds() throws InterruptedException {
		this.gate.countDown();
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/h"));
		acquire(policy, 1, LONG);
		this.meanwhile = () -> this.store.reset(policy, Identifier.GLOBAL);
		assertThat(acquire(policy, 1, LONG).allowed()).isTrue();
		assertThat(passed()).hasSeconds(10);
	}

	@Test
	void blockIsWaitedForAndShadowNever() throws InterruptedException {
		this.gate.countDown();
		this.store.block(Identifier.GLOBAL, null, Duration.ofSeconds(5), "");
		assertThat(acquire(EACH_SECOND, 1, Duration.ofSeconds(4)).blockedFor()).hasSeconds(5);
		assertThat(acquire(EACH_SECOND, 1, Duration.ofSeconds(5)).allowed()).isTrue();
		RateLimitRequest shadow = RateLimitRequest.of(Charge.of(EACH_SECOND, Identifier.GLOBAL).inShadow());
		assertThat(this.limiter.acquire(shadow, LONG).allowed()).isTrue();
		assertThat(passed()).hasSeconds(5);
	}

	/** Nobody knows when a call ends: it is asked every second, and at the end. */
	@Test
	void runningCallsAreAskedForEverySecond() throws InterruptedException {
		this.gate.countDown();
		Policy policy = Policy.of("api", new ConcurrentCalls(), Limit.parse("1/m"));
		acquire(policy, 1, LONG);
		assertThat(acquire(policy, 1, Duration.ofMillis(2500)).allowed()).isFalse();
		assertThat(passed()).hasMillis(2500);
		assertThat(this.calls).hasValue(1 + 4);
	}

	/** Also of one policy and identifier of several, and after its quota was changed. */
	@Test
	void refundLetsTheFirstInLineAsk() throws Exception {
		Policy policy = Policy.of("calls", new ConcurrentCalls(), Limit.parse("1/m"));
		WaitingRateLimiter signalled = new WaitingRateLimiter(this.store, new WaitingRateLimiter.Time() {

			@Override
			public void pass(long nanos, Semaphore signal) throws InterruptedException {
				signal.acquire();
			}

		});
		assertThat(signalled.tryAcquire(request(policy, 1).withCall(1)).allowed()).isTrue();
		RateLimitRequest next = RateLimitRequest.of(Charge.of(EACH_SECOND, Identifier.GLOBAL),
				Charge.of(policy, Identifier.GLOBAL, Identifier.user("alice")));
		Caller caller = inLine(() -> signalled.acquire(next.withCall(2), LONG));
		signalled.refund(RateLimitRequest.of(policy, Identifier.user("bob")).withCall(1));
		signalled.refund(request(policy.withLimits(List.of(Limit.parse("2/m"))), 1).withCall(1));
		assertAdmitted(List.of(caller));
	}

	@Test
	void nobodyWaitsForPoliciesThatPunishDenials() throws InterruptedException {
		Penalty penalty = new Penalty(5, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofHours(1), true);
		acquire(EACH_SECOND, 1, LONG);
		for (Policy policy : List.of(EACH_SECOND.withCountDenied(true), EACH_SECOND.withPenalty(penalty))) {
			assertThat(acquire(policy, 1, LONG).allowed()).isFalse();
			assertThatIllegalArgumentException().isThrownBy(() -> WaitingRateLimiter.requireUnpunished(policy))
				.withMessage(
						"Invalid policy (api): nobody can wait for it, because it counts denied requests or has a penalty.");
		}
		assertThat(this.calls).hasValue(3);
		assertThat(passed()).isZero();
	}

}
