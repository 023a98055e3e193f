package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.Plan;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Policies that a {@link PolicySource} changes, and those of plans.
 */
@ExtendWith(OutputCaptureExtension.class)
class PolicySourceTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final IdentifiedPolicy API = new IdentifiedPolicy(
			Policy.of("api", new SlidingLog(), Limit.parse("2/m")), List.of("user"));

	private static final String WARNING = "The policy 'api' stays as configured";

	private final MemoryRateLimiter store = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final List<Outcome> outcomes = new ArrayList<>();

	private Function<IdentifiedPolicy, IdentifiedPolicy> change = Function.identity();

	private final Decider decisions = decisions(this.store);

	@Test
	void raisedAndLoweredLimitsCountForTheNextRequest() {
		assertThat(allowed(API, 3)).isEqualTo(2);
		this.change = (policy) -> policy.withLimits(List.of(Limit.parse("5/m")));
		assertThat(allowed(API, 9)).isEqualTo(3);
		this.change = (policy) -> policy.withLimits(List.of(Limit.parse("4/m")));
		Decision denied = decide(API, null);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).singleElement()
			.satisfies((status) -> assertThat(status.limit()).isEqualTo(Limit.parse("4/m")));
	}

	@Test
	void changedModeCountsForTheNextRequest() {
		allowed(API, 2);
		this.change = (policy) -> policy.withEnforcement(new Enforcement(Mode.SHADOW, OnStoreFailure.ALLOW, null));
		assertThat(allowed(API, 1)).isEqualTo(1);
		assertThat(this.outcomes).endsWith(Outcome.SHADOW_DENIED);
		this.change = Function.identity();
		assertThat(allowed(API, 1)).isZero();
	}

	@Test
	void changedOnStoreFailureCountsForTheNextRequest() {
		Decider withoutStore = decisions(new FailingStore());
		assertThat(decide(withoutStore, API, null).allowed()).isTrue();
		this.change = (policy) -> policy.withEnforcement(new Enforcement(Mode.ENFORCE, OnStoreFailure.DENY, null));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> decide(withoutStore, API, null));
		this.change = Function.identity();
		assertThat(decide(withoutStore, API, null).allowed()).isTrue();
	}

	@Test
	void sourcesAreAskedOneAfterAnother() {
		Decider chained = new Decider(this.store, List.of(),
				() -> List.of((policy, caller) -> policy.withLimits(List.of(Limit.parse("10/m"))),
						(policy, caller) -> policy
							.withLimits(List.of(new Limit(policy.policy().limits().get(0).quota() + 1,
									policy.policy().limits().get(0).window())))));
		assertThat(decide(chained, API, null).statuses()).singleElement()
			.satisfies((status) -> assertThat(status.limit()).isEqualTo(Limit.parse("11/m")));
	}

	@ParameterizedTest
	@MethodSource("wrongAnswers")
	void wrongAnswerLeavesPolicyAndIsReportedOnce(Function<IdentifiedPolicy, IdentifiedPolicy> wrong, String rule,
			CapturedOutput output) {
		this.change = wrong;
		assertThat(allowed(API, 9)).isEqualTo(2);
		assertThat(StringUtils.countOccurrencesOf(output.toString(), WARNING)).isEqualTo(1);
		assertThat(output).contains(rule);
	}

	@Test
	void sourceThatFailsForSomeUsersOnlyIsReportedOnce(CapturedOutput output) {
		CheckedPolicySource source = new CheckedPolicySource((policy, caller) -> this.change.apply(policy),
				(policy) -> {
				});
		for (int i = 0; i < 5; i++) {
			String user = "alice" + i;
			this.change = (policy) -> {
				throw new IllegalStateException("unknown user " + user);
			};
			assertThat(source.current(API, Caller.UNKNOWN)).isSameAs(API);
			this.change = (policy) -> new IdentifiedPolicy(Policy.of(user, new SlidingLog(), Limit.parse("9/m")),
					policy.identifiers());
			assertThat(source.current(API, Caller.UNKNOWN)).isSameAs(API);
			this.change = Function.identity();
			assertThat(source.current(API, Caller.UNKNOWN)).isSameAs(API);
		}
		assertThat(StringUtils.countOccurrencesOf(output.toString(), WARNING)).isEqualTo(1);
		assertThat(output).contains("java.lang.IllegalStateException").doesNotContain("alice");
	}

	@Test
	void answerHoldsForItsCallerOnly() {
		Map<String, OnStoreFailure> tenants = Map.of("careful", OnStoreFailure.DENY, "careless", OnStoreFailure.ALLOW);
		Decider withoutStore = new Decider(new FailingStore(), List.of(),
				() -> List.of((policy, caller) -> policy.withEnforcement(
						new Enforcement(Mode.ENFORCE, tenants.get(caller.find("header:X-Tenant").value()), null))));
		List<PolicyCharge> charges = Stream.of("careful", "careless")
			.map((tenant) -> withoutStore
				.current(new PolicyUse(API, 1, Map.of()), (name) -> new Identifier(name, tenant))
				.policy())
			.map((policy) -> new PolicyCharge(policy, Charge.of(policy.policy(), ALICE)))
			.toList();
		for (int i = 0; i < 9; i++) {
			assertThat(withoutStore.decide(charges.subList(1, 2)).allowed()).isTrue();
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> withoutStore.decide(charges.subList(0, 1)));
		}
	}

	@Test
	void sourceSeesTheIdentifiersThatAMethodHas() {
		List<Identifier> seen = new ArrayList<>();
		Decider asking = new Decider(this.store, List.of(), () -> List.of((policy, caller) -> {
			seen.add(caller.find("#tenant"));
			seen.add(caller.find("global"));
			return policy;
		}));
		IdentifiedPolicy policy = API.withIdentifiers(List.of("#tenant"));
		new ThreadEnforcer(asking).enforce(List.of(new PolicyUse(policy, 1, Map.of("#tenant", "acme"))));
		assertThat(seen).containsExactly(new Identifier("#tenant", "acme"), Identifier.GLOBAL);
	}

	@Test
	void sameAnswerIsCheckedOnce() {
		List<Policy> checked = new ArrayList<>();
		CheckedPolicySource source = new CheckedPolicySource((policy, caller) -> this.change.apply(policy),
				checked::add);
		this.change = (policy) -> policy.withLimits(List.of(Limit.parse("5/m")))
			.withPlans(Map.of("pro", plan("6/m"), "free", plan("5/m")));
		for (int i = 0; i < 9; i++) {
			assertThat(source.current(API, Caller.UNKNOWN).policy().limits()).containsExactly(Limit.parse("5/m"));
		}
		assertThat(checked).hasSize(2);
	}

	@Test
	void checkedAnswersAreForgottenWhenTooMany() {
		List<Policy> checked = new ArrayList<>();
		CheckedPolicySource source = new CheckedPolicySource((policy, caller) -> this.change.apply(policy),
				checked::add);
		for (int round = 0; round < 2; round++) {
			IntStream.rangeClosed(1, 5000).forEach((quota) -> {
				this.change = (policy) -> policy.withLimits(List.of(new Limit(quota, Duration.ofMinutes(1))));
				source.current(API, Caller.UNKNOWN);
			});
		}
		assertThat(checked).hasSizeGreaterThan(5000);
	}

	static Stream<Arguments> wrongAnswers() {
		return Stream.of(answer((policy) -> null, "Invalid answer (null): must be a policy."),
				answer((policy) -> new IdentifiedPolicy(Policy.of("other", new SlidingLog(), Limit.parse("9/m")),
						policy.identifiers()), "Invalid name: must stay the same."),
				answer((policy) -> policy.withLimits(List.of(Limit.parse("9/m"))).withIdentifiers(List.of("ip")),
						"Invalid identifiers [ip]: must stay the same, [user]."),
				answer((policy) -> policy.withLimits(List.of(Limit.parse("often"))),
						"returned a policy that cannot be enforced: java.lang.IllegalArgumentException"),
				answer((policy) -> {
					throw new IllegalStateException("failed at " + System.nanoTime());
				}, "returned a policy that cannot be enforced: java.lang.IllegalStateException"));
	}

	private static Arguments answer(Function<IdentifiedPolicy, IdentifiedPolicy> wrong, String rule) {
		return Arguments.of(wrong, rule);
	}

	@Test
	void algorithmThatTheStoreCannotHoldIsAWrongAnswer(CapturedOutput output) {
		Decider picky = decisions(new FailingStore() {

			@Override
			public void requireSupported(Policy policy) {
				if (policy.algorithm() instanceof FixedWindow) {
					throw new IllegalArgumentException("Invalid algorithm (fixed-window): not here.");
				}
			}

		});
		this.change = (policy) -> new IdentifiedPolicy(Policy.of("api", new FixedWindow(), Limit.parse("9/m")),
				policy.identifiers());
		decide(picky, API, null);
		assertThat(output).contains(WARNING).contains("Invalid algorithm (fixed-window): not here.");
	}

	@Test
	void planCountsInsteadOfThePolicyAndKeepsItsCounts() {
		IdentifiedPolicy api = API.withPlans(Map.of("pro", plan("5/m"), "partner", Plan.UNLIMITED));
		assertThat(decideAll(api, null, 3)).isEqualTo(2);
		assertThat(decideAll(api, "unheard-of", 1)).isZero();
		assertThat(decideAll(api, "pro", 9)).isEqualTo(3);
		assertThat(decideAll(api, "partner", 9)).isEqualTo(9);
		assertThat(decide(api, "partner").statuses()).isEmpty();
		assertThat(decideAll(api, "pro", 1)).isZero();
	}

	@Test
	void sourceChangesPolicyBeforeThePlanIsLookedUp() {
		IdentifiedPolicy api = API.withPlans(Map.of("pro", plan("5/m")));
		this.change = (policy) -> policy.withLimits(List.of(Limit.parse("1/m")));
		assertThat(decideAll(api, null, 9)).isEqualTo(1);
		assertThat(decideAll(api, "pro", 9)).isEqualTo(4);
		this.change = (policy) -> policy.withPlans(Map.of("pro", plan("6/m")));
		assertThat(decideAll(api, "pro", 9)).isEqualTo(1);
	}

	@Test
	void listenersHearOnlyOfPlansOfThePolicy() {
		List<String> plans = new ArrayList<>();
		Decider heard = new Decider(this.store,
				List.of((decision) -> plans.add(decision.plan() + " " + decision.charge().policy().limits())),
				List::of);
		IdentifiedPolicy api = API.withPlans(Map.of("pro", plan("5/m")));
		for (String plan : Arrays.asList("pro", "unheard-of", null)) {
			decide(heard, api, plan);
		}
		assertThat(plans).containsExactly("pro [5/m]", "null [2/m]", "null [2/m]");
	}

	@Test
	void policyOfPlanHasTheSameName() {
		Policy other = Policy.of("other", new SlidingLog(), Limit.parse("9/m"));
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> API.withPlans(Map.of("pro", new Plan(other))))
			.withMessage("Invalid policy (other) of the plan 'pro': must be named 'api'.");
	}

	private static Plan plan(String limit) {
		return new Plan(Policy.of("api", new SlidingLog(), Limit.parse(limit)));
	}

	private Decider decisions(RateLimiter store) {
		return new Decider(store, List.of((decision) -> this.outcomes.add(decision.outcome())),
				() -> List.of((policy, caller) -> this.change.apply(policy)));
	}

	private long allowed(IdentifiedPolicy policy, int requests) {
		return decideAll(policy, null, requests);
	}

	private long decideAll(IdentifiedPolicy policy, String plan, int requests) {
		return Stream.generate(() -> decide(policy, plan)).limit(requests).filter(Decision::allowed).count();
	}

	private Decision decide(IdentifiedPolicy policy, String plan) {
		return decide(this.decisions, policy, plan);
	}

	private Decision decide(Decider decisions, IdentifiedPolicy policy, String plan) {
		IdentifiedPolicy current = decisions.current(policy);
		return decisions.decide(List.of(new PolicyCharge(current, Charge.of(current.policy(), ALICE), plan)))
			.decision();
	}

}
