package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
import io.github.ratelimit.test.ManualClock;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.ObservationContextAssert;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link StoreObservation}.
 */
class StoreObservationTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(policy("api"), ALICE);

	private final MemoryRateLimiter store = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final RateLimiter limiter = new StoreObservation(this.registry).decorate(this.store);

	@Test
	void decisionIsObserved() {
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		observed().hasLowCardinalityKeyValue("outcome", "allowed")
			.hasLowCardinalityKeyValue("policies", "api")
			.hasContextualNameEqualTo("ratelimit api")
			.doesNotHaveError();
	}

	@Test
	void outcomeIsTold() {
		this.limiter.tryAcquire(REQUEST);
		this.limiter.tryAcquire(REQUEST);
		this.store.block(ALICE, null, Duration.ofMinutes(1), "test");
		this.limiter.tryAcquire(REQUEST);
		assertThat(keyValues("outcome")).containsExactly("allowed", "denied", "blocked");
	}

	@Test
	void identifiersAreNotTold() {
		this.limiter.tryAcquire(REQUEST);
		assertThat(contexts()).singleElement().asString().contains("ratelimit api").doesNotContain("alice");
	}

	@Test
	void manyPoliciesAreOnlyCounted() {
		this.limiter.tryAcquire(request("a", "b", "c"));
		this.limiter.tryAcquire(request("a", "b", "c", "d"));
		assertThat(keyValues("policies")).containsExactly("a, b, c", "4 policies");
	}

	@Test
	void failureIsToldAndPassedOn() {
		StoreException failure = new StoreException("gone", new IllegalStateException());
		RateLimiter failing = new StoreObservation(this.registry).decorate(new DelegatingRateLimiter(this.store) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				throw failure;
			}

		});
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> failing.tryAcquire(REQUEST)).isSameAs(failure);
		observed().hasLowCardinalityKeyValue("outcome", "failed").hasError(failure);
	}

	@Test
	void nothingIsDoneWhenRegistryIsNoop() {
		assertThat(new StoreObservation(ObservationRegistry.NOOP).decorate(this.store)).isSameAs(this.store);
	}

	@Test
	void observationIsChildOfThePresentOne() {
		Observation parent = Observation.start("request", this.registry);
		parent.scoped(() -> {
			this.limiter.tryAcquire(REQUEST);
		});
		parent.stop();
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("ratelimit.store")
			.that()
			.hasParentObservationEqualTo(parent)
			.hasBeenStopped();
	}

	private ObservationContextAssert<?> observed() {
		return TestObservationRegistryAssert.assertThat(this.registry)
			.hasSingleObservationThat()
			.hasBeenStarted()
			.hasBeenStopped()
			.hasNameEqualTo("ratelimit.store");
	}

	private List<String> keyValues(String key) {
		return contexts().stream().map((context) -> context.getLowCardinalityKeyValue(key).getValue()).toList();
	}

	private List<Observation.Context> contexts() {
		List<Observation.Context> contexts = new ArrayList<>();
		TestObservationRegistryAssert.assertThat(this.registry).hasHandledContextsThatSatisfy(contexts::addAll);
		return contexts;
	}

	private static RateLimitRequest request(String... policies) {
		return new RateLimitRequest(Stream.of(policies).map((name) -> Charge.of(policy(name), ALICE)).toList());
	}

	private static Policy policy(String name) {
		return Policy.of(name, new SlidingLog(), Limit.parse("1/m"));
	}

}
