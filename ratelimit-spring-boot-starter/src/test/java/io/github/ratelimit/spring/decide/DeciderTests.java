package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.ObservedRateLimiter;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.ResponseCondition;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link Decider}.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeciderTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final IdentifiedPolicy ONE = policy("one", "1/m", Enforcement.DEFAULT);

	private static final IdentifiedPolicy TWO = policy("two", "2/m", Enforcement.DEFAULT);

	private static final IdentifiedPolicy SHADOW = policy("shadow", "1/m",
			new Enforcement(Mode.SHADOW, OnStoreFailure.DENY, null));

	private static final IdentifiedPolicy TRIED = policy("tried", "9/m",
			new Enforcement(Mode.SHADOW, OnStoreFailure.LOCAL, null));

	private static final IdentifiedPolicy LOGIN = policy("login", "5/m",
			new Enforcement(Mode.ENFORCE, OnStoreFailure.DENY, null));

	private static final IdentifiedPolicy OPEN = policy("open", "1/m",
			new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null));

	private final MemoryRateLimiter store = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final List<PolicyDecision> notified = new ArrayList<>();

	private final Decider decisions = decisions(this.store);

	/** So that it is tried again before the lease ends. */
	@Test
	void renewalFailsIfTheStoreFails() {
		Decider failing = decisions(new FailingStore());
		IdentifiedPolicy policy = new IdentifiedPolicy(ConcurrentLimit.alone("one", 1, Duration.ofMinutes(1)),
				List.of("user"));
		PolicyCharge call = withCost(policy, 1).ofCall(1).orElseThrow();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> failing.counted().renew(call));
		assertThat(failing.outage().failingSince()).isPresent();
	}

	@Test
	void listenersGetOutcomeAndViolatingIdentifiersOfEveryPolicy() {
		Identifier bob = Identifier.user("bob");
		decide(ONE, TWO);
		this.decisions.decide(List.of(new PolicyCharge(ONE, Charge.of(ONE.policy(), ALICE, bob)),
				new PolicyCharge(TWO, Charge.of(TWO.policy(), bob))));
		decide(SHADOW);
		decide(SHADOW);
		assertThat(this.notified)
			.extracting((decision) -> decision.policy().policy().name(), PolicyDecision::outcome,
					(decision) -> decision.violated().stream().map(LimitStatus::identifier).toList())
			.containsExactly(tuple("one", Outcome.ALLOWED, List.of()), tuple("two", Outcome.ALLOWED, List.of()),
					tuple("one", Outcome.DENIED, List.of(ALICE)), tuple("two", Outcome.DENIED_BY_OTHER, List.of()),
					tuple("shadow", Outcome.ALLOWED, List.of()),
					tuple("shadow", Outcome.SHADOW_DENIED, List.of(ALICE)));
		assertThat(this.notified).extracting(PolicyDecision::source).containsOnly(Decision.Source.STORE);
		assertThat(this.notified).extracting(PolicyDecision::time)
			.allMatch((time) -> time.compareTo(Duration.ZERO) > 0);
	}

	@Test
	void policyInShadowModeCountsAndReportsButNeverDenies() {
		decide(ONE);
		assertThat(decide(ONE, SHADOW).allowed()).isFalse();
		assertThat(outcomes("shadow")).isEmpty();
		assertThat(decide(SHADOW, TWO).allowed()).isTrue();
		assertThat(this.store.peek(RateLimitRequest.of(SHADOW.policy(), ALICE)).allowed()).isFalse();
		Decision decision = decide(SHADOW, TWO);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).extracting(LimitStatus::policy).containsExactly(TWO.policy());
		assertThat(this.decisions.peek(charges(SHADOW)).shadows().get("shadow").allowed()).isFalse();
		assertThat(outcomes("shadow")).containsExactly(Outcome.ALLOWED, Outcome.SHADOW_DENIED);
		assertThat(outcomes("two")).containsExactly(Outcome.ALLOWED, Outcome.ALLOWED);
		assertThat(decide(SHADOW).statuses()).isEmpty();
	}

	/** Policies in shadow mode are settled like others. */
	@Test
	void allPoliciesAreDecidedInOneCall() {
		List<PolicyCharge> used = new ArrayList<>();
		List<RateLimitRequest> calls = new ArrayList<>();
		Decider decisions = decisions(new ObservedRateLimiter(this.store, calls::add, (settled) -> {
		}));
		for (int i = 0; i < 3; i++) {
			Decided decided = decisions.decide(charges(SHADOW, TWO, TRIED));
			assertThat(decided.allowed()).isEqualTo(i < 2);
			used.addAll(decided.used());
		}
		assertThat(decisions.decide(List.of()).allowed()).isTrue();
		assertThat(calls).hasSize(3);
		assertThat(outcomes("shadow")).containsExactly(Outcome.ALLOWED, Outcome.SHADOW_DENIED);
		assertThat(outcomes("two")).containsExactly(Outcome.ALLOWED, Outcome.ALLOWED, Outcome.DENIED);
		assertThat(outcomes("tried")).containsExactly(Outcome.ALLOWED, Outcome.ALLOWED);
		assertThat(used).extracting(PolicyCharge::policy).containsExactly(SHADOW, TWO, TRIED, TWO, TRIED);
		decisions.counted().settle(used.get(0), 0);
		assertThat(remaining(SHADOW)).isEqualTo(1);
		decisions.counted().settle(used.get(4), 2);
		assertThat(remaining(TRIED)).isEqualTo(6);
	}

	@Test
	void listenersAreNotifiedOfBlocks() {
		this.store.block(ALICE, null, Duration.ofMinutes(1), "test");
		decide(ONE, SHADOW);
		decide(SHADOW);
		assertThat(this.decisions.peek(List.of(withCost(ONE, 0))).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		assertThat(outcomes("one")).containsExactly(Outcome.BLOCKED);
		assertThat(outcomes("shadow")).containsExactly(Outcome.SHADOW_DENIED);
	}

	@Test
	void listenersAreNotifiedOfFailures() {
		Decider failing = decisions(new FailingStore());
		assertThat(failing.decide(charges(OPEN, SHADOW)).allowed()).isTrue();
		assertThat(outcomes("open")).containsExactly(Outcome.STORE_FAILED_ALLOWED);
		assertThat(outcomes("shadow")).containsExactly(Outcome.STORE_FAILED_ALLOWED);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> failing.decide(charges(OPEN, LOGIN)));
		assertThat(failing.peek(charges(OPEN)).allowed()).isTrue();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> failing.peek(charges(LOGIN)));
		assertThat(outcomes("login")).containsExactly(Outcome.STORE_FAILED_DENIED);
		assertThat(this.notified).extracting(PolicyDecision::source).containsOnly(Decision.Source.NONE);
	}

	@Test
	void policiesAreLimitedLocallyWhileTheStoreFails() {
		Decider failing = decisions(new FailingStore());
		assertThat(failing.decide(charges(ONE, OPEN)).allowed()).isTrue();
		assertThat(failing.decide(charges(ONE, OPEN)).allowed()).isFalse();
		assertThat(failing.outage().failingSince()).isPresent();
		assertThat(this.notified)
			.extracting((decision) -> decision.policy().policy().name(), PolicyDecision::outcome,
					PolicyDecision::source)
			.containsExactly(tuple("one", Outcome.ALLOWED, Decision.Source.LOCAL),
					tuple("open", Outcome.STORE_FAILED_ALLOWED, Decision.Source.NONE),
					tuple("one", Outcome.DENIED, Decision.Source.LOCAL),
					tuple("open", Outcome.DENIED_BY_OTHER, Decision.Source.LOCAL));
	}

	@Test
	void policiesAreLimitedLocallyWhileTheStoreIsBusy() {
		FailingStore store = new FailingStore();
		store.busy = true;
		Decider busy = decisions(store);
		assertThat(busy.decide(charges(ONE, OPEN, SHADOW)).allowed()).isTrue();
		assertThat(busy.decide(charges(OPEN)).allowed()).isFalse();
		assertThat(busy.decide(charges(SHADOW)).allowed()).isTrue();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> busy.decide(charges(LOGIN)));
		assertThat(busy.outage().failingSince()).isEmpty();
		assertThat(busy.outage().busyCount()).isEqualTo(4);
		assertThat(outcomes("one")).containsExactly(Outcome.ALLOWED);
		assertThat(outcomes("open")).containsExactly(Outcome.ALLOWED, Outcome.DENIED);
		assertThat(outcomes("shadow")).containsExactly(Outcome.ALLOWED, Outcome.SHADOW_DENIED);
		assertThat(outcomes("login")).containsExactly(Outcome.STORE_FAILED_DENIED);
	}

	@Test
	void onlyWhatWasUsedCanBeSettled() {
		assertThat(this.decisions.decideProvisionally(charges(ONE, TWO, SHADOW)).used())
			.extracting(PolicyCharge::policy)
			.containsExactly(ONE, TWO, SHADOW);
		assertThat(this.decisions.decideProvisionally(charges(TWO, SHADOW)).used()).extracting(PolicyCharge::policy)
			.containsExactly(TWO);
		assertThat(this.decisions.decideProvisionally(charges(ONE, TWO)).used()).isEmpty();
		assertThat(decisions(new FailingStore()).decideProvisionally(charges(OPEN)).used()).isEmpty();
	}

	@Test
	void differenceToTrueCostIsRefundedOrCharged() {
		PolicyCharge used = charges(LOGIN).get(0);
		this.decisions.decide(List.of(used));
		this.decisions.counted().settle(used, 1);
		assertThat(remaining(LOGIN)).isEqualTo(4);
		this.decisions.counted().settle(used, 0);
		assertThat(remaining(LOGIN)).isEqualTo(5);
		this.decisions.counted().settle(used, 4);
		assertThat(remaining(LOGIN)).isEqualTo(2);
		this.decisions.counted().settle(used, 1000);
		assertThat(remaining(LOGIN)).isZero();
		List<PolicyCharge> free = this.decisions.decideProvisionally(List.of(withCost(TWO, 0))).used();
		this.decisions.counted().settle(free.get(0), 2);
		assertThat(remaining(TWO)).isZero();
	}

	/** The store has a count, the cache a denial, and so has this instance. */
	@Test
	void resetRemovesCountsOfStoreAndOfThisInstance(CapturedOutput output) {
		FailingStore store = new FailingStore();
		Decider decisions = new Decider(store, List.of(), List::of, UnaryOperator.identity(), () -> 1,
				new DenialCache(Duration.ofHours(1), 10), Decider.DEFAULT_LONGEST_CALL, Time.SYSTEM);
		Charge one = charges(ONE).get(0).charge();
		for (RateLimiter instead : new RateLimiter[] { this.store, null, this.store }) {
			store.instead = instead;
			for (int i = 0; i < 2; i++) {
				assertThat(decisions.decide(charges(ONE)).allowed()).isTrue();
				assertThat(decisions.decide(charges(ONE)).allowed()).isFalse();
				decisions.counted().settle(charges(ONE).get(0), Counted.RESET);
			}
			assertThat(decisions.counted().tryReset(one)).isEqualTo(instead != null);
		}
		store.instead = null;
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> decisions.counted().reset(one));
		assertThat(output).containsOnlyOnce("The store failed");
	}

	private long remaining(IdentifiedPolicy policy) {
		return this.store.peek(RateLimitRequest.of(policy.policy(), ALICE)).statuses().get(0).remaining();
	}

	@Test
	void requestWithoutCostIsAllowedWhileStoreFails() {
		this.store.block(ALICE, null, Duration.ofMinutes(1), "test");
		for (Decider each : List.of(this.decisions, decisions(new FailingStore()))) {
			assertThat(each.decide(List.of(withCost(LOGIN, 0), withCost(ONE, 0))).decision())
				.isEqualTo(new Decision(true, List.of()));
			assertThat(each.outage().failingSince()).isEmpty();
		}
		assertThat(this.notified).isEmpty();
	}

	@Test
	void deniedRequestWaitsForReservedCost() {
		List<PolicyCharge> used = new ArrayList<>();
		IdentifiedPolicy policy = policy("reserving", "2/m",
				new Enforcement(Mode.ENFORCE, OnStoreFailure.DENY, ResponseCondition.parse("status in [401]")));
		used.addAll(this.decisions.decideProvisionally(charges(policy)).used());
		used.addAll(this.decisions.decideProvisionally(charges(policy)).used());
		Decision denied = decide(policy);
		assertThat(denied.retryAfter()).contains(Duration.ofSeconds(1));
		assertThat(denied.statuses().get(0).resetAfter()).isEqualTo(Duration.ofSeconds(1));
		assertThat(this.decisions.decide(List.of(withCost(policy, 3))).decision().retryAfter()).isEmpty();
		used.forEach((each) -> this.decisions.counted().settle(each, 1));
		assertThat(decide(policy).retryAfter()).contains(Duration.ofMinutes(1));
	}

	@Test
	void localCountIsRefundedLocally() {
		PolicyCharge local = charges(ONE).get(0);
		Decider failing = decisions(new FailingStore());
		Decided decided = failing.decide(List.of(withCost(TWO, 0), local));
		assertThat(decided.allowed()).isTrue();
		assertThat(failing.decide(List.of(local)).allowed()).isFalse();
		decided.refund();
		assertThat(failing.decide(List.of(local)).allowed()).isTrue();
	}

	private static IdentifiedPolicy policy(String name, String limit, Enforcement enforcement) {
		return new IdentifiedPolicy(Policy.of(name, new SlidingLog(), Limit.parse(limit)), List.of("user"),
				enforcement);
	}

	private Decider decisions(RateLimiter limiter) {
		return new Decider(limiter, List.of(this.notified::add), List::of);
	}

	private Decision decide(IdentifiedPolicy... policies) {
		return this.decisions.decide(charges(policies)).decision();
	}

	private static List<PolicyCharge> charges(IdentifiedPolicy... policies) {
		return Stream.of(policies).map((policy) -> withCost(policy, 1)).toList();
	}

	private static PolicyCharge withCost(IdentifiedPolicy policy, long cost) {
		return new PolicyCharge(policy, new Charge(policy.policy(), List.of(ALICE), cost));
	}

	private List<Outcome> outcomes(String policy) {
		return this.notified.stream()
			.filter((decision) -> decision.policy().policy().name().equals(policy))
			.map(PolicyDecision::outcome)
			.toList();
	}

}
