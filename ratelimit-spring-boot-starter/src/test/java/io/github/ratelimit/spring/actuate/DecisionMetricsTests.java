package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link DecisionMetrics}.
 */
class DecisionMetricsTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final DecisionMetrics metrics = new DecisionMetrics(this.registry);

	@Test
	void decisionsAreCountedAndTimedByPolicyOutcomeAndSource() {
		decide("api", Outcome.ALLOWED, Decision.Source.STORE, 100);
		decide("api", Outcome.ALLOWED, Decision.Source.STORE, 300);
		decide("api", Outcome.DENIED_BY_OTHER, Decision.Source.STORE, 100);
		decide("login", Outcome.STORE_FAILED_DENIED, Decision.Source.NONE, 7);
		Timer allowed = timer("api", "allowed", "store");
		assertThat(allowed.count()).isEqualTo(2);
		assertThat(allowed.totalTime(MICROSECONDS)).isEqualTo(400);
		assertThat(timer("api", "denied-by-other", "store").count()).isEqualTo(1);
		assertThat(timer("login", "store-failed-denied", "none").totalTime(MICROSECONDS)).isEqualTo(7);
	}

	@Test
	void identifiersAreNoTags() {
		for (int i = 0; i < 100; i++) {
			IdentifiedPolicy policy = policy("api", Mode.ENFORCE);
			this.metrics.decided(new PolicyDecision(policy, Charge.of(policy.policy(), Identifier.user("user-" + i)),
					null, Outcome.ALLOWED, Decision.Source.STORE, Duration.ofMillis(1), List.of()));
		}
		assertThat(this.registry.getMeters()).hasSize(1);
		assertThat(this.registry.getMeters().get(0).getId().getTags()).extracting("key")
			.containsExactlyInAnyOrder("policy", "outcome", "source");
	}

	@Test
	void metersArePresentBeforeFirstDecision() {
		this.metrics.register(policy("api", Mode.ENFORCE));
		assertThat(outcomes()).containsExactlyInAnyOrder("allowed", "allowed", "denied", "denied", "denied",
				"denied-by-other", "blocked", "store-failed-allowed", "store-failed-denied");
		assertThat(timer("api", "denied", "denial-cache").count()).isZero();
		assertThat(timer("api", "denied", "store").count()).isZero();
		assertThat(timer("api", "store-failed-denied", "none").count()).isZero();
		decide("api", Outcome.DENIED, Decision.Source.STORE, 1);
		assertThat(this.registry.getMeters()).hasSize(9);
	}

	@Test
	void metersOfLocalLimitsArePresentUnlessPoliciesDeny() {
		for (OnStoreFailure mode : OnStoreFailure.values()) {
			this.metrics
				.register(policy(mode.name(), Mode.ENFORCE).withEnforcement(new Enforcement(Mode.ENFORCE, mode, null)));
		}
		assertThat(this.registry.find("ratelimit.decisions").tag("source", "local").timers())
			.extracting((timer) -> timer.getId().getTag("policy"), (timer) -> timer.getId().getTag("outcome"))
			.containsExactlyInAnyOrder(tuple("ALLOW", "allowed"), tuple("ALLOW", "denied"), tuple("LOCAL", "allowed"),
					tuple("LOCAL", "denied"));
	}

	@Test
	void metersOfShadowAreThoseOfItsOutcomes() {
		this.metrics.register(policy("api", Mode.SHADOW));
		assertThat(outcomes()).containsExactlyInAnyOrder("allowed", "shadow-denied", "store-failed-allowed");
	}

	private List<String> outcomes() {
		return this.registry.getMeters().stream().map(Meter::getId).map((id) -> id.getTag("outcome")).toList();
	}

	private Timer timer(String policy, String outcome, String source) {
		return this.registry.get("ratelimit.decisions")
			.tags("policy", policy, "outcome", outcome, "source", source)
			.timer();
	}

	private void decide(String name, Outcome outcome, Decision.Source source, long micros) {
		IdentifiedPolicy policy = policy(name, Mode.ENFORCE);
		this.metrics.decided(new PolicyDecision(policy, Charge.of(policy.policy(), Identifier.user("alice")), null,
				outcome, source, Duration.ofNanos(micros * 1000), List.of()));
	}

	private static IdentifiedPolicy policy(String name, Mode mode) {
		return new IdentifiedPolicy(Policy.of(name, new SlidingLog(), Limit.parse("1/m")), List.of("user"),
				new Enforcement(mode, OnStoreFailure.ALLOW, null));
	}

}
