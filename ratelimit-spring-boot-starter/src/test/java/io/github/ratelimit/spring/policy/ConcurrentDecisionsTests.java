package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Decisions over policies that limit concurrent calls.
 */
class ConcurrentDecisionsTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final IdentifiedPolicy ONLY = policy(CallsAtOnce.alone("only", 2, LEASE), Enforcement.DEFAULT);

	private static final IdentifiedPolicy BOTH = policy(Policy.of("both", new SlidingLog(), Limit.parse("5/h")),
			Enforcement.DEFAULT)
		.withConcurrent(CallsAtOnce.beside("both", 2, LEASE));

	private final MemoryRateLimiter memory = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final List<PolicyDecision> notified = new ArrayList<>();

	private final List<PolicyCharge> used = new ArrayList<>();

	private boolean fails;

	private final PolicyDecisions decisions = new PolicyDecisions(new Store(this.memory), List.of(this.notified::add),
			List::of, OutageHandling.ofRedis(() -> 1), new DenialCache(Duration.ofHours(1), 100));

	private static IdentifiedPolicy policy(Policy policy, Enforcement enforcement) {
		return new IdentifiedPolicy(policy, List.of("user"), enforcement);
	}

	private static PolicyCharge charge(IdentifiedPolicy policy, long cost) {
		return new PolicyCharge(policy, new Charge(policy.policy(), List.of(ALICE), cost));
	}

	private Decision decide(IdentifiedPolicy policy, long cost) {
		return this.decisions.decide(List.of(charge(policy, cost)), this.used::add);
	}

	private List<PolicyCharge> calls() {
		return this.used.stream().filter((charge) -> charge.call() != 0).toList();
	}

	private long running(IdentifiedPolicy policy) {
		Policy calls = policy.calls().orElseThrow().policy();
		return calls.limits().get(0).quota()
				- this.memory.peek(RateLimitRequest.of(calls, ALICE)).statuses().get(0).remaining();
	}

	@Test
	void callsAreNumberedAndEndedOneByOne() {
		decide(ONLY, 1);
		decide(ONLY, 7);
		assertThat(decide(ONLY, 1).retryAfter()).hasValue(Duration.ofSeconds(1));
		assertThat(calls()).extracting((call) -> call.charge().cost()).containsExactly(1L, 1L);
		assertThat(calls()).extracting(PolicyCharge::call).doesNotHaveDuplicates();
		this.decisions.end(List.of(calls().get(1)));
		this.decisions.end(List.of(calls().get(1)));
		assertThat(running(ONLY)).isEqualTo(1);
		assertThat(decide(ONLY, 1).allowed()).isTrue();
	}

	@Test
	void callCostsOneWhateverTheRequestCosts() {
		assertThat(decide(BOTH, 5).allowed()).isTrue();
		assertThat(running(BOTH)).isEqualTo(1);
		Decision denied = decide(BOTH, 1);
		assertThat(denied.violated()).extracting((status) -> status.policy().name()).containsExactly("both");
		assertThat(denied.retryAfter()).hasValue(Duration.ofHours(1));
		assertThat(running(BOTH)).isEqualTo(1);
	}

	@Test
	void freeRequestIsNotCounted() {
		for (int i = 0; i < 5; i++) {
			assertThat(decide(ONLY, 0).allowed()).isTrue();
			assertThat(decide(BOTH, 0).allowed()).isTrue();
		}
		assertThat(calls()).isEmpty();
	}

	@Test
	void denialByCallsIsNotRemembered() {
		decide(ONLY, 1);
		decide(ONLY, 1);
		assertThat(decide(ONLY, 1).allowed()).isFalse();
		PolicyCharge ended = calls().get(0);
		this.memory.refund(RateLimitRequest.of(ended.charge()).withCall(ended.call()));
		assertThat(decide(ONLY, 1).allowed()).isTrue();
	}

	@Test
	void listenersAreNotifiedOfCallsAsOfAPolicy() {
		decide(BOTH, 1);
		decide(BOTH, 1);
		decide(BOTH, 1);
		assertThat(this.notified).extracting((decision) -> decision.policy().policy().name() + " " + decision.outcome())
			.endsWith("both DENIED_BY_OTHER", "both (at once) DENIED");
	}

	@Test
	void allPoliciesKnowTheCallByTheSameNumber() {
		this.decisions.decide(List.of(charge(ONLY, 1), charge(BOTH, 1)), this.used::add);
		assertThat(calls()).extracting(PolicyCharge::call).hasSize(2).containsOnly(calls().get(0).call());
		this.decisions.end(calls());
		assertThat(running(ONLY)).isZero();
		assertThat(running(BOTH)).isZero();
	}

	@Test
	void plansKeepTheCallsOfThePolicy() {
		IdentifiedPolicy plans = BOTH.withPlans(Map.of("pro",
				new Plan(Policy.of("both", new SlidingLog(), Limit.parse("9/h"))), "all", Plan.UNLIMITED));
		Charge charge = Charge.of(plans.policy(), ALICE);
		this.decisions.decide(List.of(new PolicyCharge(plans, charge, "all")), this.used::add);
		this.decisions.decide(List.of(charge(plans, 1).countedBeforeLogin()), this.used::add);
		assertThat(running(BOTH)).isZero();
		for (int i = 0; i < 2; i++) {
			this.decisions.decide(List.of(new PolicyCharge(plans, charge, "pro")), this.used::add);
		}
		assertThat(this.decisions.decide(List.of(new PolicyCharge(plans, charge, "pro"))).violated())
			.extracting((status) -> status.policy().name())
			.containsExactly("both (at once)");
	}

	@Test
	void callEndsWhereItWasCounted() {
		this.fails = true;
		decide(ONLY, 1);
		decide(ONLY, 1);
		assertThat(decide(ONLY, 1).retryAfter()).hasValue(Duration.ofSeconds(1));
		assertThat(calls()).extracting(PolicyCharge::source).containsOnly(Decision.Source.LOCAL);
		this.fails = false;
		this.decisions.end(List.of(calls().get(0)));
		this.fails = true;
		assertThat(decide(ONLY, 1).allowed()).isTrue();
		assertThat(decide(ONLY, 1).allowed()).isFalse();
		assertThat(running(ONLY)).isZero();
	}

	@Test
	void policyThatAllowsDuringOutagesCountsNothing() {
		this.fails = true;
		IdentifiedPolicy open = policy(CallsAtOnce.alone("open", 1, LEASE),
				new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null));
		for (int i = 0; i < 3; i++) {
			assertThat(decide(open, 1).allowed()).isTrue();
		}
		assertThat(calls()).isEmpty();
	}

	@Test
	void methodEndsItsOwnCalls() {
		List<Runnable> atEnd = new ArrayList<>();
		this.decisions.decideMethod(List.of(charge(BOTH, 1)), this.used::add, atEnd::add);
		assertThat(calls()).isEmpty();
		assertThat(running(BOTH)).isEqualTo(1);
		atEnd.forEach(Runnable::run);
		assertThat(running(BOTH)).isZero();
		this.decisions.decideMethod(List.of(charge(BOTH, 0)), atEnd::add);
		assertThat(atEnd).hasSize(1);
	}

	@Test
	void otherLimitsCannotReplaceCalls() {
		assertThatIllegalArgumentException().isThrownBy(() -> ONLY.withLimits(List.of(Limit.parse("9/m"))))
			.withMessage("Invalid limits [9/m]: the policy 'only' limits only concurrent calls.");
		assertThatIllegalArgumentException().isThrownBy(() -> BOTH.withConcurrent(BOTH.policy()))
			.withMessage("Invalid policy (both) of concurrent calls: must count calls, and have a name of its own.");
		assertThat(BOTH.withLimits(List.of(Limit.parse("9/m"))).withIdentifiers(List.of("ip")).concurrent())
			.isEqualTo(BOTH.concurrent());
	}

	/** Fails if it is told to. */
	private final class Store implements RateLimiter {

		private final RateLimiter store;

		Store(RateLimiter store) {
			this.store = store;
		}

		private RateLimiter store() {
			if (ConcurrentDecisionsTests.this.fails) {
				throw new StoreException("expected by this test", new IllegalStateException());
			}
			return this.store;
		}

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			return store().tryAcquire(request);
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			return store().peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			store().refund(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			store().charge(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			store().reset(policy, identifier);
		}

	}

}
