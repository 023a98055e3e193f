package io.github.ratelimit.lease;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.Reservation;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class LeasedRateLimiterTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("6000/m")).withLease(SECOND);

	private final Cluster cluster = new Cluster();

	private final Cluster.Process process = this.cluster.start(new Random(1), 0);

	private final LeasedRateLimiter limiter = this.process.limiter;

	/** A hundred requests a second, for some seconds. */
	private void send(Policy policy, int requests) {
		for (int i = 0; i < requests; i++) {
			assertThat(this.process.acquire(RateLimitRequest.of(policy, ALICE)).allowed()).isTrue();
			pass(Duration.ofMillis(10));
		}
	}

	private void pass(Duration time) {
		this.cluster.time.advance(time.toNanos());
	}

	private long remaining() {
		return this.cluster.statuses(POLICY, ALICE).get(0).remaining();
	}

	@Test
	void quietIdentifierHasNoLease() {
		for (int i = 0; i < 100; i++) {
			assertThat(this.limiter.tryAcquire(POLICY, ALICE).source()).isEqualTo(Source.STORE);
			pass(Duration.ofMillis(150));
		}
	}

	@Test
	void policyWithoutLeaseReachesTheStore() {
		send(POLICY.withLease(null), 300);
		assertThat(this.cluster.calls).isEqualTo(300);
	}

	@Test
	void shadowReachesTheStore() {
		send(POLICY, 300);
		long before = this.cluster.calls;
		this.process.acquire(RateLimitRequest.of(Charge.of(POLICY, ALICE).inShadow()));
		assertThat(this.cluster.calls).isEqualTo(before + 1);
	}

	/** 20,000 a second, of which the quota allows twice as many. */
	@Test
	void fewRequestsReachTheStoreAtASteadyRate() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("240000/m")).withLease(SECOND);
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		for (int i = 0; i < 20_000; i++) {
			this.process.acquire(request);
			this.cluster.time.advance(500_000);
		}
		long before = this.cluster.calls;
		for (int i = 0; i < 240_000; i++) {
			assertThat(this.process.acquire(request).allowed()).isTrue();
			this.cluster.time.advance(500_000);
		}
		assertThat(this.cluster.calls - before).isLessThan(2400 / 4);
	}

	@Test
	void whatIsIdleIsGivenBack() {
		send(POLICY, 400);
		assertThat(remaining()).isLessThan(5600);
		pass(SECOND);
		assertThat(remaining()).isEqualTo(5600);
	}

	@Test
	void refundGoesBackToTheLease() {
		send(POLICY, 400);
		long before = remaining();
		RateLimitRequest request = RateLimitRequest.of(POLICY, ALICE);
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Source.LEASE);
		this.limiter.refund(request);
		assertThat(remaining()).isEqualTo(before);
		this.limiter.close();
		assertThat(remaining()).isEqualTo(5600);
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Source.STORE);
	}

	/** A call that has no number in the store would never end. */
	@Test
	void callsOfRequestWithLeaseEnd() {
		Policy calls = Policy.of("calls", new ConcurrentCalls(), Limit.parse("1/m"));
		LeasedRateLimiter limiter = leased(this.cluster.store);
		for (int call = 1; call < 10; call++) {
			RateLimitRequest request = RateLimitRequest.of(Charge.of(POLICY, ALICE), Charge.of(calls, ALICE))
				.withCall(call);
			assertThat(limiter.tryAcquire(request).allowed()).isTrue();
			assertThat(limiter.tryAcquire(request.withCall(100)).allowed()).isFalse();
			limiter.refund(RateLimitRequest.of(calls, ALICE).withCall(call));
		}
	}

	private LeasedRateLimiter limiter(RateLimiter store, BackgroundTimer timer) {
		return new LeasedRateLimiter(store, timer, this.cluster.time::nanos, 10);
	}

	/** Returns a rate limiter that has a lease. */
	private LeasedRateLimiter leased(RateLimiter store) {
		LeasedRateLimiter limiter = limiter(store, this.cluster.time.new ProcessTimer());
		send(limiter, POLICY, 300);
		assertThat(limiter.tryAcquire(POLICY, ALICE).source()).isEqualTo(Source.LEASE);
		return limiter;
	}

	private void send(RateLimiter limiter, Policy policy, int requests) {
		for (int i = 0; i < requests; i++) {
			assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			pass(Duration.ofMillis(10));
		}
	}

	@Test
	void partThatIsDeniedIsNoDenialForThePenalty() {
		Policy penalized = POLICY
			.withPenalty(new Penalty(1, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1)));
		send(penalized, 200);
		this.cluster.store.charge(RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(6000)));
		pass(Duration.ofSeconds(20));
		assertThat(this.cluster.store.blocks()).isEmpty();
	}

	@Test
	void penaltyEndsTheLease() {
		Policy penalized = POLICY
			.withPenalty(new Penalty(1, Duration.ofMinutes(1), Duration.ofMinutes(15), Duration.ofMinutes(15)));
		send(penalized, 400);
		Charge large = Charge.of(penalized, ALICE).withCost(5900);
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(large)).blockedFor()).isEqualTo(Duration.ofMinutes(15));
		assertThat(this.limiter.tryAcquire(penalized, ALICE).allowed()).isFalse();
	}

	@Test
	void decisionIsOfTheLeaseBesideShadows() {
		Policy shadow = Policy.of("shadow", new FixedWindow(), Limit.parse("0/m"));
		Decision decision = leased(this.cluster.store)
			.tryAcquire(RateLimitRequest.of(Charge.of(POLICY, ALICE), Charge.of(shadow, ALICE).inShadow()));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.source()).isEqualTo(Source.LEASE);
		assertThat(decision.shadows().get("shadow").allowed()).isFalse();
	}

	@Test
	void leaseEndsAlthoughGivingBackHasFailed() {
		Policy day = Policy.of("api", new FixedWindow(), Limit.parse("600000/d")).withLease(SECOND);
		int[] failures = { 1 };
		LeasedRateLimiter failing = limiter(new DelegatingRateLimiter(this.cluster.store) {

			@Override
			public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
				if (failures[0]-- > 0) {
					throw new StoreException("busy", new IllegalStateException());
				}
				super.cancel(policy, identifier, cost, reservedAt);
			}

		}, this.cluster.time.new ProcessTimer());
		for (int i = 0; i < 400; i++) {
			failing.tryAcquire(day, ALICE);
			pass(Duration.ofMillis((i < 300) ? 10 : 100));
		}
		pass(Duration.ofMinutes(1));
		assertThat(failures[0]).isLessThan(0);
		Policy changed = day.withLimits(List.of(Limit.parse("500000/d")));
		send(failing, changed, 200);
		assertThat(failing.tryAcquire(changed, ALICE).source()).isEqualTo(Source.LEASE);
	}

	/** Such as the store of an application that applies limits of its own. */
	@Test
	void partOfOtherLimitsIsGivenBackForGood() {
		Policy other = POLICY.withLimits(List.of(Limit.parse("5000/m")));
		int[] reserved = { 0 };
		LeasedRateLimiter limiter = limiter(new DelegatingRateLimiter(this.cluster.store) {

			@Override
			public Reservation reserve(Policy policy, Identifier identifier, long cost) {
				reserved[0]++;
				return super.reserve(policy.withLimits(other.limits()), identifier, cost);
			}

		}, this.cluster.time.new ProcessTimer());
		send(limiter, POLICY, 400);
		assertThat(reserved[0]).isEqualTo(1);
		assertThat(remaining()).isEqualTo(5600);
	}

	@Test
	void partIsTakenLaterIfThereCanBeNoThread() {
		int[] failures = { 1 };
		LeasedRateLimiter limiter = limiter(this.cluster.store, this.cluster.time.new ProcessTimer() {

			@Override
			public boolean schedule(Runnable task, long nanos) {
				return failures[0]-- <= 0 && super.schedule(task, nanos);
			}

		});
		send(limiter, POLICY, 100);
		assertThat(failures[0]).isLessThan(0);
		assertThat(limiter.tryAcquire(POLICY, ALICE).source()).isEqualTo(Source.LEASE);
	}

	@Test
	void deniedRequestUsesNothingOfALease() {
		Policy none = Policy.of("none", new FixedWindow(), Limit.parse("0/m"));
		send(POLICY, 400);
		Decision decision = this.limiter
			.tryAcquire(RateLimitRequest.of(Charge.of(POLICY, ALICE), Charge.of(none, ALICE)));
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.source()).isEqualTo(Source.STORE);
		assertThat(decision.statuses()).extracting((status) -> status.remaining()).containsExactly(5600L, 0L);
		this.limiter.close();
		assertThat(remaining()).isEqualTo(5600);
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "api")
	void blockOfThisProcessEndsTheLeaseAtOnce(@Nullable String policy) {
		send(POLICY, 400);
		this.limiter.watchBlocks(this.cluster.store).block(ALICE, policy, Duration.ofHours(1), "");
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).blockedFor()).isEqualTo(Duration.ofHours(1));
		pass(Duration.ZERO);
		assertThat(remaining()).isEqualTo(5600);
	}

	@Test
	void blockOfAnotherProcessIsNoticedWithinTwoLeases() {
		send(POLICY, 400);
		this.cluster.store.block(ALICE, null, Duration.ofHours(1), "");
		int allowed = 0;
		while (this.process.acquire(RateLimitRequest.of(POLICY, ALICE)).allowed()) {
			allowed++;
			pass(Duration.ofMillis(10));
		}
		assertThat(allowed).isBetween(1, 200);
	}

	/** The new count knows nothing of the part, so nothing must be given back to it. */
	@Test
	void resetDropsTheLeaseWithoutGivingItBack() {
		send(POLICY, 400);
		this.limiter.reset(POLICY, ALICE);
		this.limiter.tryAcquire(POLICY, ALICE);
		this.limiter.close();
		pass(Duration.ofSeconds(5));
		assertThat(remaining()).isEqualTo(5999);
	}

	@Test
	void changedQuotaIsEnforcedAtOnce() {
		send(POLICY, 400);
		Decision decision = this.limiter.tryAcquire(POLICY.withLimits(List.of(Limit.parse("100/m"))), ALICE);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.source()).isEqualTo(Source.STORE);
	}

	@Test
	void peekUsesNothing() {
		send(POLICY, 400);
		for (int i = 0; i < 2; i++) {
			Decision decision = this.limiter.peek(RateLimitRequest.of(POLICY, ALICE));
			assertThat(decision.source()).isEqualTo(Source.LEASE);
			assertThat(decision.statuses().get(0).remaining()).isEqualTo(5600);
		}
	}

}
