package io.github.ratelimit.spring.actuate;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.test.ManualClock;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisDataException;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RateLimitMetrics} and {@link StoreObservation}.
 */
class RateLimitMetricsTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final RateLimitRequest REQUEST = request("api");

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final RateLimitMetrics metrics = new RateLimitMetrics(this.registry);

	private final MemoryRateLimiter store = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final TestObservationRegistry observations = TestObservationRegistry.create();

	private final RateLimiter observed = new StoreObservation(this.observations).decorate(this.store);

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

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					ENFORCE | DENY  | allowed store, blocked store, denied denial-cache, denied store, denied-by-other store, store-failed-allowed none, store-failed-denied none
					ENFORCE | ALLOW | allowed local, allowed store, blocked store, denied denial-cache, denied local, denied store, denied-by-other store, store-failed-allowed none, store-failed-denied none
					ENFORCE | LOCAL | allowed local, allowed store, blocked store, denied denial-cache, denied local, denied store, denied-by-other store, store-failed-allowed none, store-failed-denied none
					SHADOW  | ALLOW | allowed store, shadow-denied store, store-failed-allowed none
					""")
	void metersOfPossibleOutcomesArePresentBeforeFirstDecision(Mode mode, OnStoreFailure failure, String meters) {
		this.metrics.register(policy("api", mode).withEnforcement(new Enforcement(mode, failure, null)));
		assertThat(this.registry.get("ratelimit.decisions").timers()).allMatch((timer) -> timer.count() == 0)
			.extracting((timer) -> timer.getId().getTag("outcome") + " " + timer.getId().getTag("source"))
			.containsExactlyInAnyOrder(meters.split(", "));
		decide("api", Outcome.ALLOWED, Decision.Source.STORE, 1);
		assertThat(this.registry.get("ratelimit.decisions").timers()).hasSize(meters.split(", ").length);
	}

	@Test
	void everyKindOfErrorIsThereFromTheStart() {
		assertThat(errors().keySet()).containsExactly("busy", "clusterdown", "connection", "error-reply", "loading",
				"masterdown", "misconf", "noauth", "node", "noperm", "noreplicas", "noscript", "oom", "other",
				"overload", "readonly", "timeout", "wrong-reply", "wrongpass", "wrongtype");
		assertThat(errors().values()).containsOnly(0.0);
	}

	@Test
	void failuresOfAllCallsAreCountedByKind() {
		RateLimiter failing = this.metrics.decorate((RateLimiter) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RateLimiter.class }, (proxy, method, arguments) -> {
					throw new StoreException("Redis failed", new JedisDataException("OOM of this test"));
				}));
		List<Consumer<RateLimitRequest>> calls = List.of(failing::tryAcquire, failing::peek, failing::refund,
				failing::charge);
		assertThat(calls).allSatisfy(
				(call) -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call.accept(REQUEST)));
		Map<String, Double> counts = errors();
		assertThat(counts.remove("oom")).isEqualTo(4);
		assertThat(counts.values()).containsOnly(0.0);
	}

	/** Also if it is a denial. */
	@Test
	void answerIsNoError() {
		RateLimiter limiter = this.metrics.decorate(this.store);
		assertThat(limiter.tryAcquire(REQUEST).allowed()).isTrue();
		assertThat(limiter.tryAcquire(REQUEST).allowed()).isFalse();
		assertThat(errors().values()).containsOnly(0.0);
	}

	@Test
	void roundTripsAndFullQueuesAreCountedByServer() {
		this.metrics.answered("a:1", 7, Duration.ofMillis(3));
		this.metrics.queueFull("a:1");
		this.metrics.queueFull("b:1");
		assertThat(this.registry.get("ratelimit.redis.calls").tag("server", "a:1").summary().totalAmount())
			.isEqualTo(7);
		assertThat(this.registry.get("ratelimit.redis.round-trips").tag("server", "a:1").timer().count()).isOne();
		assertThat(this.registry.get("ratelimit.redis.queue-full").tag("server", "a:1").counter().count()).isOne();
	}

	@Test
	void decisionsAreObservedWithoutTheirIdentifiers() {
		this.observed.tryAcquire(REQUEST);
		this.observed.tryAcquire(REQUEST);
		this.store.block(ALICE, null, Duration.ofMinutes(1), "test");
		this.observed.tryAcquire(REQUEST);
		assertThat(keyValues("outcome")).containsExactly("allowed", "denied", "blocked");
		assertThat(keyValues("policies")).containsOnly("api");
		assertThat(contexts())
			.allSatisfy((context) -> assertThat(context.toString()).contains("ratelimit api").doesNotContain("alice"));
	}

	@Test
	void manyPoliciesAreOnlyCounted() {
		this.observed.tryAcquire(request("a", "b", "c"));
		this.observed.tryAcquire(request("a", "b", "c", "d"));
		assertThat(keyValues("policies")).containsExactly("a, b, c", "4 policies");
	}

	@Test
	void failureIsToldAndPassedOn() {
		StoreException failure = new StoreException("gone", new IllegalStateException());
		RateLimiter failing = new StoreObservation(this.observations).decorate(new DelegatingRateLimiter(this.store) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				throw failure;
			}

		});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> failing.tryAcquire(REQUEST)).isSameAs(failure);
		TestObservationRegistryAssert.assertThat(this.observations)
			.hasSingleObservationThat()
			.hasBeenStopped()
			.hasNameEqualTo("ratelimit.store")
			.hasLowCardinalityKeyValue("outcome", "failed")
			.hasError(failure);
	}

	@Test
	void nothingIsDoneWhenRegistryIsNoop() {
		assertThat(new StoreObservation(ObservationRegistry.NOOP).decorate(this.store)).isSameAs(this.store);
	}

	@Test
	void observationIsChildOfThePresentOne() {
		Observation parent = Observation.start("request", this.observations);
		parent.scoped(() -> {
			this.observed.tryAcquire(REQUEST);
		});
		parent.stop();
		TestObservationRegistryAssert.assertThat(this.observations)
			.hasObservationWithNameEqualTo("ratelimit.store")
			.that()
			.hasParentObservationEqualTo(parent)
			.hasBeenStopped();
	}

	private List<String> keyValues(String key) {
		return contexts().stream().map((context) -> context.getLowCardinalityKeyValue(key).getValue()).toList();
	}

	private List<Observation.Context> contexts() {
		List<Observation.Context> contexts = new ArrayList<>();
		TestObservationRegistryAssert.assertThat(this.observations).hasHandledContextsThatSatisfy(contexts::addAll);
		return contexts;
	}

	private static RateLimitRequest request(String... policies) {
		return new RateLimitRequest(
				Stream.of(policies).map((name) -> Charge.of(policy(name, Mode.ENFORCE).policy(), ALICE)).toList());
	}

	private Map<String, Double> errors() {
		Map<String, Double> counts = new TreeMap<>();
		this.registry.get("ratelimit.store.errors")
			.counters()
			.forEach((counter) -> counts.put(counter.getId().getTag("kind"), counter.count()));
		return counts;
	}

	private Timer timer(String policy, String outcome, String source) {
		return this.registry.get("ratelimit.decisions")
			.tags("policy", policy, "outcome", outcome, "source", source)
			.timer();
	}

	private void decide(String name, Outcome outcome, Decision.Source source, long micros) {
		IdentifiedPolicy policy = policy(name, Mode.ENFORCE);
		this.metrics.decided(new PolicyDecision(policy, Charge.of(policy.policy(), ALICE), null, outcome, source,
				Duration.ofNanos(micros * 1000), List.of()));
	}

	private static IdentifiedPolicy policy(String name, Mode mode) {
		return new IdentifiedPolicy(Policy.of(name, new SlidingLog(), Limit.parse("1/m")), List.of("user"),
				new Enforcement(mode, OnStoreFailure.ALLOW, null));
	}

}
