package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.ResponseCondition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Reservations}.
 */
class ReservationsTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Duration WINDOW = Duration.ofMinutes(15);

	private static final Limit LIMIT = Limit.parse("5/15m");

	private static final Policy POLICY = Policy.of("login", new SlidingLog(), LIMIT);

	private final AtomicLong now = new AtomicLong();

	private final Reservations reservations = new Reservations(this.now::get);

	@Test
	void denialEndsSoonWhileEnoughIsHeld() {
		this.reservations.add(charge(ALICE, 2));
		assertThat(retryAfter(charge(ALICE, 2))).isEqualTo(Reservations.SOON);
		assertThat(retryAfter(charge(ALICE, 3))).isEqualTo(WINDOW);
		assertThat(retryAfter(charge(Identifier.user("bob"), 2))).isEqualTo(WINDOW);
		assertThat(resetAfter(WINDOW, charge(ALICE, 2))).isEqualTo(Reservations.SOON);
		assertThat(resetAfter(Duration.ofMillis(1), charge(ALICE, 2))).isEqualTo(Duration.ofMillis(1));
		assertThat(resetAfter(WINDOW, charge(ALICE, 3))).isEqualTo(WINDOW);
		this.reservations.add(charge(ALICE, 1));
		assertThat(retryAfter(charge(ALICE, 3))).isEqualTo(Reservations.SOON);
		this.reservations.remove(charge(ALICE, 2));
		assertThat(retryAfter(charge(ALICE, 1))).isEqualTo(Reservations.SOON);
		assertThat(retryAfter(charge(ALICE, 2))).isEqualTo(WINDOW);
		this.reservations.remove(charge(ALICE, 1));
		assertThat(retryAfter(charge(ALICE, 1))).isEqualTo(WINDOW);
	}

	@Test
	void whatRequestsThatNeverEndHoldIsForgotten() {
		IntStream.range(0, 1000).forEach((i) -> this.reservations.add(charge(Identifier.user("user" + i), 1)));
		this.reservations.add(charge(ALICE, 1));
		advance(Duration.ofMinutes(59));
		assertThat(retryAfter(charge(ALICE, 1))).isEqualTo(Reservations.SOON);
		advance(Duration.ofMinutes(2));
		assertThat(retryAfter(charge(ALICE, 1))).isEqualTo(WINDOW);
		this.reservations.add(charge(ALICE, 1));
		this.reservations.remove(charge(ALICE, 1));
		assertThat(this.reservations.held).isEmpty();
	}

	@Test
	void whatNeverEndsIsForgottenWhileOthersCome() {
		this.reservations.add(charge(ALICE, 3));
		for (int minute = 0; minute <= 60; minute++) {
			advance(Duration.ofMinutes(1));
			this.reservations.add(charge(ALICE, 1));
			assertThat(retryAfter(charge(ALICE, 4))).isEqualTo((minute < 60) ? Reservations.SOON : WINDOW);
			if (minute < 60) {
				this.reservations.remove(charge(ALICE, 1));
			}
		}
	}

	@Test
	void nothingIsKeptOfRequestsThatHaveEnded() {
		List<CompletableFuture<Void>> threads = IntStream.range(0, 4)
			.mapToObj((thread) -> CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 5000; i++) {
					PolicyCharge charge = charge(Identifier.user("user" + i % 1000), 1 + i % 3);
					this.reservations.add(charge);
					this.reservations.remove(charge);
				}
			}))
			.toList();
		threads.forEach(CompletableFuture::join);
		assertThat(this.reservations.held).isEmpty();
	}

	@Test
	void denialOfPolicyThatReservesIsRememberedForAMoment() {
		assertThat(this.reservations.longestDenial(POLICY)).isEqualTo(DenialCache.LONGEST_AGE);
		this.reservations.register(POLICY);
		assertThat(this.reservations.longestDenial(POLICY)).isEqualTo(Reservations.SOON);
	}

	private void advance(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

	/** When a request is to be tried again, by which nothing is left of the limit. */
	private Duration retryAfter(PolicyCharge charge) {
		return this.reservations.withEarlierRetry(denied(charge, WINDOW), List.of(charge)).retryAfter().orElseThrow();
	}

	/** When more arrives, as a denied request is told. */
	private Duration resetAfter(Duration known, PolicyCharge charge) {
		return this.reservations.withEarlierRetry(denied(charge, known), List.of(charge))
			.statuses()
			.get(0)
			.resetAfter();
	}

	private static Decision denied(PolicyCharge charge, Duration resetAfter) {
		return new Decision(false,
				charge.charge()
					.identifiers()
					.stream()
					.map((identifier) -> new LimitStatus(POLICY, identifier, LIMIT, 0, resetAfter, WINDOW, true))
					.toList());
	}

	private static PolicyCharge charge(Identifier identifier, long cost) {
		IdentifiedPolicy policy = new IdentifiedPolicy(POLICY, List.of("user"),
				new Enforcement(Mode.ENFORCE, OnStoreFailure.DENY, ResponseCondition.parse("status in [401]")));
		return new PolicyCharge(policy, new Charge(POLICY, List.of(identifier), cost));
	}

}
