package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.actuate.MostDenied.Denied;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link MostDenied}.
 */
class MostDeniedTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	/** As a clock may be that counts from any time. */
	private long nanos = -Duration.ofMinutes(2).toNanos();

	private final MostDenied denied = new MostDenied(UnaryOperator.identity(), () -> this.nanos);

	@Test
	void onlyIdentifierWhoseLimitsAreViolatedCountsOnce() {
		this.denied.decided(decision("api", Outcome.DENIED, List.of(ADDRESS, ALICE), List.of(ALICE, ALICE)));
		assertThat(all()).extracting(Denied::policy, Denied::identifier, Denied::outcome, Denied::requests)
			.containsExactly(tuple("api", "user:alice", "denied", 1L));
	}

	@Test
	void blockedAndShadowDeniedAreToldApart() {
		deny(Outcome.BLOCKED, ALICE);
		deny(Outcome.SHADOW_DENIED, ALICE);
		deny(Outcome.SHADOW_DENIED, ALICE);
		assertThat(all()).extracting(Denied::outcome, Denied::requests)
			.containsExactly(tuple("shadow-denied", 2L), tuple("blocked", 1L));
	}

	@Test
	void blockedRequestCountsForAllButEverybody() {
		this.denied.decided(decision("api", Outcome.BLOCKED, List.of(ADDRESS, Identifier.GLOBAL, ALICE),
				List.of(Identifier.GLOBAL)));
		this.denied.decided(decision("api", Outcome.SHADOW_DENIED, List.of(ADDRESS, Identifier.GLOBAL), List.of()));
		assertThat(all()).extracting(Denied::identifier, Denied::outcome)
			.containsExactlyInAnyOrder(tuple("ip:203.0.113.7", "blocked"), tuple("user:alice", "blocked"),
					tuple("ip:203.0.113.7", "shadow-denied"));
	}

	@Test
	void everybodyIsShownWhenTheSharedLimitIsViolated() {
		deny(Outcome.DENIED, Identifier.GLOBAL);
		assertThat(all()).extracting(Denied::identifier).containsExactly("global:");
	}

	@ParameterizedTest
	@EnumSource(names = { "ALLOWED", "DENIED_BY_OTHER", "STORE_FAILED_ALLOWED", "STORE_FAILED_DENIED" })
	void whatNoLimitDeniesIsNotCounted(Outcome outcome) {
		deny(outcome, ALICE);
		assertThat(all()).isEmpty();
	}

	@Test
	void denialsAreForgottenMinuteByMinute() {
		deny(Outcome.DENIED, ALICE);
		pass(60);
		deny(Outcome.DENIED, ALICE);
		deny(Outcome.DENIED, ALICE);
		assertThat(all()).extracting(Denied::byMinute).containsExactly(List.of(0L, 0L, 0L, 1L, 2L));
		pass(180);
		assertThat(all()).extracting(Denied::byMinute).containsExactly(List.of(1L, 2L, 0L, 0L, 0L));
		pass(60);
		deny(Outcome.DENIED, ALICE);
		assertThat(all()).extracting(Denied::byMinute).containsExactly(List.of(2L, 0L, 0L, 0L, 1L));
		pass(299);
		assertThat(all()).extracting(Denied::requests).containsExactly(1L);
		pass(1);
		assertThat(all()).isEmpty();
		pass(3600);
		deny(Outcome.DENIED, ALICE);
		assertThat(all()).extracting(Denied::byMinute).containsExactly(List.of(0L, 0L, 0L, 0L, 1L));
	}

	@Test
	void mostDeniedComeFirstAndAtMostAskedNumber() {
		for (String policy : List.of("api", "login")) {
			for (int i = 1; i <= 20; i++) {
				for (int times = 0; times < i; times++) {
					deny(policy, Identifier.user("user-" + i));
				}
			}
		}
		deny("login", Identifier.user("user-20"));
		assertThat(this.denied.list(null, null, 2)).extracting(Denied::policy, Denied::identifier, Denied::requests)
			.containsExactly(tuple("login", "user:user-20", 21L), tuple("api", "user:user-20", 20L),
					tuple("api", "user:user-19", 19L), tuple("login", "user:user-19", 19L));
		assertThat(this.denied.list(null, "api", 100)).hasSize(20)
			.allSatisfy((each) -> assertThat(each.policy()).isEqualTo("api"));
		assertThat(this.denied.list(Identifier.user("user-1"), null, 1)).extracting(Denied::policy)
			.containsExactly("api", "login");
	}

	@Test
	void frequentOnesAreKeptHoweverManyOthersAreDenied() {
		List<Integer> order = new ArrayList<>();
		for (int often = 0; often < 10; often++) {
			order.addAll(Collections.nCopies(2000 + often * 100, often));
		}
		IntStream.range(10, 100_000).forEach(order::add);
		Collections.shuffle(order, new Random(1));
		order.forEach((number) -> deny("api", Identifier.user("user-" + number)));
		deny("other", ALICE);
		assertThat(this.denied.list(null, "api", 1000)).hasSizeLessThanOrEqualTo(MostDenied.MAX_ENTRIES);
		assertThat(this.denied.list(null, "api", 10)).extracting(Denied::identifier)
			.containsExactlyInAnyOrderElementsOf(IntStream.range(0, 10).mapToObj((i) -> "user:user-" + i).toList());
		assertThat(this.denied.list(Identifier.user("user-9"), "api", 1).get(0).requests()).isBetween(2850L, 2900L);
		assertThat(this.denied.list(null, "other", 10)).hasSize(1);
	}

	@Test
	void threadsLoseNoDenial() {
		IntStream.range(0, 40_000).parallel().forEach((i) -> deny("api", Identifier.user("user-" + i % 4)));
		assertThat(all()).extracting(Denied::requests).containsExactly(10_000L, 10_000L, 10_000L, 10_000L);
	}

	private List<Denied> all() {
		return this.denied.list(null, null, 100);
	}

	private void pass(int seconds) {
		this.nanos += Duration.ofSeconds(seconds).toNanos();
	}

	private void deny(Outcome outcome, Identifier identifier) {
		this.denied.decided(decision("api", outcome, List.of(identifier), List.of(identifier)));
	}

	private void deny(String policy, Identifier identifier) {
		this.denied.decided(decision(policy, Outcome.DENIED, List.of(identifier), List.of(identifier)));
	}

	private static PolicyDecision decision(String name, Outcome outcome, List<Identifier> identifiers,
			List<Identifier> violated) {
		Policy policy = Policy.of(name, new SlidingLog(), Limit.parse("1/m"));
		IdentifiedPolicy identified = new IdentifiedPolicy(policy, List.of("user"), Enforcement.DEFAULT);
		Stream<LimitStatus> statuses = violated.stream()
			.map((identifier) -> LimitStatus.ofMicros(policy, identifier, policy.limits().get(0), 0, 1, 1, true));
		return new PolicyDecision(identified, new Charge(policy, identifiers, 1), null, outcome,
				Decision.Source.DENIAL_CACHE, Duration.ZERO, statuses.toList());
	}

}
