package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.waiting.WaitingRateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.Plan;
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

	private static final IdentifiedPolicy ONLY = policy(ConcurrentLimit.alone("only", 2, LEASE), Enforcement.DEFAULT);

	private static final IdentifiedPolicy BOTH = policy(Policy.of("both", new SlidingLog(), Limit.parse("5/h")),
			Enforcement.DEFAULT)
		.withConcurrent(ConcurrentLimit.beside("both", 2, LEASE));

	private final MemoryRateLimiter memory = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final List<PolicyDecision> notified = new ArrayList<>();

	private final List<Decided> running = new ArrayList<>();

	private final FailingStore store = new FailingStore();

	private final Decider decisions = new Decider(this.store, List.of(this.notified::add), List::of,
			UnaryOperator.identity(), () -> 1, new DenialCache(Duration.ofHours(1), 100), Decider.DEFAULT_LONGEST_CALL,
			WaitingRateLimiter.Time.SYSTEM);

	ConcurrentDecisionsTests() {
		this.store.instead = this.memory;
	}

	private static IdentifiedPolicy policy(Policy policy, Enforcement enforcement) {
		return new IdentifiedPolicy(policy, List.of("user"), enforcement);
	}

	private static PolicyCharge charge(IdentifiedPolicy policy, long cost) {
		return new PolicyCharge(policy, new Charge(policy.policy(), List.of(ALICE), cost));
	}

	private Decision decide(IdentifiedPolicy policy, long cost) {
		return decide(charge(policy, cost));
	}

	private Decision decide(PolicyCharge... charges) {
		Decided decided = this.decisions.decide(List.of(charges));
		if (decided.isRunning()) {
			this.running.add(decided);
		}
		return decided.decision();
	}

	private long running(IdentifiedPolicy policy) {
		Policy calls = policy.calls().orElseThrow().policy();
		return calls.limits().get(0).quota()
				- this.memory.peek(RateLimitRequest.of(calls, ALICE)).statuses().get(0).remaining();
	}

	@Test
	void callCostsOneUnlessTheRequestIsFree() {
		assertThat(decide(ONLY, 0).allowed()).isTrue();
		assertThat(decide(BOTH, 0).allowed()).isTrue();
		assertThat(this.running).isEmpty();
		assertThat(decide(BOTH, 5).allowed()).isTrue();
		assertThat(running(BOTH)).isEqualTo(1);
		Decision denied = decide(BOTH, 1);
		assertThat(denied.violated()).extracting((status) -> status.policy().name()).containsExactly("both");
		assertThat(denied.retryAfter()).hasValue(Duration.ofHours(1));
		assertThat(running(BOTH)).isEqualTo(1);
	}

	/** Another instance may end a call. */
	@Test
	void denialByCallsIsNotRemembered() {
		decide(ONLY, 1);
		decide(ONLY, 1);
		assertThat(decide(ONLY, 1).allowed()).isFalse();
		PolicyCharge ended = this.running.get(0).calls().get(0);
		this.memory.refund(RateLimitRequest.of(ended.charge()).withCall(ended.call()));
		assertThat(decide(ONLY, 1).allowed()).isTrue();
	}

	@Test
	void allPoliciesKnowTheCallByTheSameNumber() {
		decide(charge(ONLY, 1), charge(BOTH, 1));
		assertThat(this.notified).extracting((decision) -> decision.policy().policy().name())
			.containsExactly("both", "only", "both (at once)");
		List<PolicyCharge> calls = this.running.get(0).calls();
		assertThat(calls).extracting(PolicyCharge::call).hasSize(2).containsOnly(calls.get(0).call());
		this.running.get(0).end();
		assertThat(running(ONLY)).isZero();
		assertThat(running(BOTH)).isZero();
	}

	@Test
	void plansKeepTheCallsOfThePolicy() {
		IdentifiedPolicy plans = BOTH.withPlans(Map.of("pro",
				new Plan(Policy.of("both", new SlidingLog(), Limit.parse("9/h"))), "all", Plan.UNLIMITED));
		Charge charge = Charge.of(plans.policy(), ALICE);
		decide(new PolicyCharge(plans, charge, "all"));
		assertThat(running(BOTH)).isZero();
		for (int i = 0; i < 2; i++) {
			decide(new PolicyCharge(plans, charge, "pro"));
		}
		assertThat(decide(new PolicyCharge(plans, charge, "pro")).violated())
			.extracting((status) -> status.policy().name())
			.containsExactly("both (at once)");
	}

	@Test
	void callEndsWhereItWasCounted() {
		this.store.instead = null;
		decide(ONLY, 1);
		decide(ONLY, 1);
		assertThat(decide(ONLY, 1).retryAfter()).hasValue(Duration.ofSeconds(1));
		this.store.instead = this.memory;
		this.running.get(0).end();
		this.store.instead = null;
		assertThat(decide(ONLY, 1).allowed()).isTrue();
		assertThat(decide(ONLY, 1).allowed()).isFalse();
		assertThat(running(ONLY)).isZero();
	}

	@Test
	void policyThatAllowsDuringOutagesCountsNothing() {
		this.store.instead = null;
		IdentifiedPolicy open = policy(ConcurrentLimit.alone("open", 1, LEASE),
				new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null));
		for (int i = 0; i < 3; i++) {
			assertThat(decide(open, 1).allowed()).isTrue();
		}
		assertThat(this.running).isEmpty();
	}

	@Test
	void otherLimitsCannotReplaceCalls() {
		assertThatIllegalArgumentException().isThrownBy(() -> ONLY.withLimits(List.of(Limit.parse("9/m"))))
			.withMessage("Invalid limits [9/m]: the policy 'only' limits only concurrent requests.");
		assertThatIllegalArgumentException().isThrownBy(() -> BOTH.withConcurrent(BOTH.policy()))
			.withMessage("Invalid policy (both) of concurrent requests: must count them, and have a name of its own.");
		assertThat(BOTH.withLimits(List.of(Limit.parse("9/m"))).withIdentifiers(List.of("ip")).concurrent())
			.isEqualTo(BOTH.concurrent());
	}

}
