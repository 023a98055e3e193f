package io.github.ratelimit.outage;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.CapturedLog;
import io.github.ratelimit.test.ManualClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class OutageRateLimiterTests {

	private static final Policy ALLOW = policy("allow", "1/d");

	private static final Policy DENY = policy("deny", "1/d");

	private static final Policy LOCAL = policy("local", "7/m", "100/h");

	private static final Policy OTHER = policy("other", "2/m");

	private static final Identifier BOB = Identifier.user("bob");

	private static final RateLimitRequest USED_UP = RateLimitRequest.of(ALLOW, Identifier.user("alice"));

	private static final RateLimitRequest NEW = RateLimitRequest.of(ALLOW, BOB);

	private static final RateLimitRequest LOCAL_REQUEST = RateLimitRequest.of(LOCAL, BOB);

	private static final RateLimitRequest DENIED = RateLimitRequest.of(Charge.of(OTHER, BOB), Charge.of(DENY, BOB));

	private static final String FAILED = "WARN The store failed: until it answers, the on-store-failure of each policy"
			+ " applies. cannot write: java.lang.IllegalStateException: OOM";

	private static final String ANSWERS = "INFO The store answers again: limits are enforced";

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	@RegisterExtension
	private final CapturedLog log = new CapturedLog(OutageRateLimiter.class);

	private final MemoryRateLimiter memory = new MemoryRateLimiter(InstantSource.system());

	/** Whether it answers as a Redis does that has no memory left. */
	private boolean full;

	private @Nullable StoreException failure;

	private final RateLimiter store = (RateLimiter) Proxy.newProxyInstance(RateLimiter.class.getClassLoader(),
			new Class<?>[] { RateLimiter.class }, (proxy, method, arguments) -> {
				if (this.failure != null) {
					throw this.failure;
				}
				if (this.full && method.getName().equals("tryAcquire")
						&& this.memory.peek((RateLimitRequest) arguments[0]).allowed()) {
					throw new StoreException("cannot write", new IllegalStateException("OOM"));
				}
				return method.invoke(this.memory, arguments);
			});

	private final ManualClock clock = new ManualClock(START.toString());

	private final Map<Policy, OnStoreFailure> modes = Map.of(ALLOW, OnStoreFailure.ALLOW, DENY, OnStoreFailure.DENY);

	private final OutageRateLimiter limiter = new OutageRateLimiter(this.store,
			(policy) -> this.modes.getOrDefault(policy, OnStoreFailure.LOCAL),
			new LocalRateLimiter(new MemoryRateLimiter(this.clock), () -> 3),
			(failure) -> failure.getCause() instanceof TimeoutException, this.clock);

	private static Policy policy(String name, String... limits) {
		return new Policy(name, new SlidingLog(), Stream.of(limits).map(Limit::parse).toList());
	}

	@BeforeEach
	void useUp() {
		this.limiter.tryAcquire(USED_UP);
	}

	private void gone() {
		this.failure = new StoreException("gone", new TimeoutException());
	}

	@Test
	void readOnlyStoreFailsUntilItAllowsRequest() {
		assertThat(this.limiter.failingSince()).isEmpty();
		this.full = true;
		for (int i = 0; i < 5; i++) {
			assertThat(this.limiter.tryAcquire(NEW)).isEqualTo(Decision.withoutStore());
			assertThat(this.limiter.tryAcquire(USED_UP).allowed()).isFalse();
			assertThat(this.limiter.peek(NEW).allowed()).isTrue();
			this.clock.advance(Duration.ofMinutes(1));
		}
		this.full = false;
		this.limiter.tryAcquire(USED_UP);
		assertThat(this.limiter.failingSince()).contains(START);
		assertThat(this.log.lines()).containsExactly(FAILED);
		this.limiter.tryAcquire(NEW);
		assertThat(this.limiter.failingSince()).isEmpty();
		assertThat(this.log.lines()).containsExactly(FAILED, ANSWERS);
	}

	/**
	 * Requests that fail, and some that the store allows meanwhile: as by a Redis key
	 * that the user may not write, and in a cluster one of whose masters is gone.
	 */
	static Stream<Arguments> partialOutages() {
		return Stream.of(
				Arguments.of(RateLimitRequest.of(Charge.of(OTHER, BOB), Charge.of(ALLOW, BOB)),
						RateLimitRequest.of(OTHER, BOB)),
				Arguments.of(LOCAL_REQUEST, RateLimitRequest.of(LOCAL, Identifier.user("dave"))));
	}

	@ParameterizedTest
	@MethodSource("partialOutages")
	void failureOfSomeRequestsIsLoggedOnce(RateLimitRequest failing, RateLimitRequest other) {
		for (int i = 0; i < 3; i++) {
			this.full = true;
			this.limiter.tryAcquire(failing);
			this.full = false;
			this.clock.advance(Duration.ofSeconds(9));
			assertThat(this.limiter.tryAcquire(other).source()).isEqualTo(Source.STORE);
			this.store.refund(other);
		}
		assertThat(this.limiter.failingSince()).contains(START);
		this.limiter.tryAcquire(failing);
		assertThat(this.log.lines()).containsExactly(FAILED, ANSWERS);
	}

	@Test
	void anyAllowedRequestEndsTheOutageAfterTenSeconds() {
		this.full = true;
		this.limiter.tryAcquire(NEW);
		RateLimitRequest other = RateLimitRequest.of(OTHER, Identifier.GLOBAL);
		this.clock.advance(Duration.ofSeconds(10).minusNanos(1));
		this.limiter.noteAllowed(other);
		assertThat(this.limiter.failingSince()).isPresent();
		this.clock.advance(Duration.ofNanos(1));
		this.limiter.noteAllowed(RateLimitRequest.of(Charge.of(OTHER, Identifier.GLOBAL).withCost(0)));
		assertThat(this.limiter.failingSince()).isPresent();
		this.limiter.noteAllowed(other);
		assertThat(this.limiter.failingSince()).isEmpty();
	}

	@Test
	void failureIsPassedOnWhenOneOfThePoliciesDenies() {
		this.full = true;
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(DENIED));
		assertThat(this.log.lines()).containsExactly(FAILED);
		this.full = false;
		assertThat(this.limiter.tryAcquire(DENIED).source()).isEqualTo(Source.STORE);
	}

	@Test
	void answerEndsAnOutageUnlessItIsOfErrors() {
		gone();
		this.limiter.tryAcquire(NEW);
		assertThat(this.limiter.isUnanswered()).isTrue();
		this.limiter.storeAnswers();
		this.limiter.storeAnswers();
		assertThat(this.limiter.failingSince()).isEmpty();
		assertThat(this.limiter.isUnanswered()).isFalse();
		assertThat(this.log.lines()).hasSize(2).last().isEqualTo(ANSWERS);
		this.limiter.tryAcquire(NEW);
		this.failure = null;
		this.full = true;
		this.limiter.tryAcquire(NEW);
		this.limiter.storeAnswers();
		assertThat(this.limiter.isUnanswered()).isFalse();
		assertThat(this.limiter.failingSince()).isPresent();
		assertThat(this.limiter.lastFailure()).get().extracting(StoreException::getMessage).isEqualTo("cannot write");
	}

	private void overload() {
		this.failure = new StoreBusyException("Redis failed to decide a request",
				new TimeoutException("It was not sent in time"), "");
	}

	@Test
	void busyStoreIsNoOutageButLimitsLocally() {
		overload();
		for (RateLimitRequest request : List.of(RateLimitRequest.of(OTHER, BOB), NEW)) {
			assertThat(this.limiter.peek(request).source()).isEqualTo(Source.LOCAL);
			assertThat(this.limiter.tryAcquire(request)).isEqualTo(new Decision(true, List.of(), null, Source.LOCAL));
			assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
			this.limiter.refund(request);
			this.limiter.charge(request);
		}
		assertThatExceptionOfType(StoreBusyException.class).isThrownBy(() -> this.limiter.tryAcquire(DENIED));
		assertThat(this.limiter.busyCount()).isEqualTo(11);
		assertThat(this.limiter.failingSince()).isEmpty();
	}

	@Test
	void busyStoreChangesNothingAboutAnOutage() {
		this.limiter.noteFailure(NEW, new StoreException("gone", new TimeoutException()));
		overload();
		this.limiter.tryAcquire(NEW);
		assertThat(this.limiter.failingSince()).contains(START);
		assertThat(this.limiter.lastFailure()).get().extracting(StoreException::getMessage).isEqualTo("gone");
	}

	@Test
	void busyStoreIsReportedOnceInAMinute() {
		overload();
		for (int second = 0; second <= 120; second++) {
			this.limiter.peek(LOCAL_REQUEST);
			this.clock.advance(Duration.ofSeconds(1));
		}
		this.clock.advance(Duration.ofMinutes(1));
		this.limiter.peek(LOCAL_REQUEST);
		assertThat(this.log.lines()).hasSize(2)
			.allMatch((message) -> message.endsWith("It was not sent in time"))
			.last()
			.asString()
			.startsWith("WARN The store did not decide in time (122 requests so far): ");
	}

	@Test
	void policiesThatWantItAreLimitedLocally() {
		this.full = true;
		for (int i = 0; i < 2; i++) {
			Decision allowed = this.limiter.tryAcquire(LOCAL_REQUEST);
			assertThat(allowed).isEqualTo(new Decision(true, List.of(), null, Source.LOCAL));
			this.clock.advance(Duration.ofSeconds(10));
		}
		LimitStatus violated = new LimitStatus(LOCAL, BOB, Limit.parse("7/m"), 0, Duration.ofSeconds(40),
				Duration.ofSeconds(40), true);
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST))
			.isEqualTo(new Decision(false, List.of(violated), null, Source.LOCAL));
		this.full = false;
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).statuses().get(0).remaining()).isEqualTo(6);
		this.full = true;
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).as("when it fails again").isFalse();
	}

	@Test
	void localPoliciesAreDecidedTogetherAndOthersAreAllowed() {
		this.full = true;
		RateLimitRequest request = RateLimitRequest.of(Charge.of(ALLOW, BOB), Charge.of(LOCAL, BOB),
				Charge.of(OTHER, BOB));
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Source.LOCAL);
		assertThat(this.limiter.tryAcquire(request).violated()).extracting(LimitStatus::policy).containsExactly(OTHER);
		// What was denied because of the other policy has used nothing of this one.
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).isFalse();
	}

	@Test
	void shadowsDenyNothingWhenTheStoreFails() {
		this.full = true;
		Charge deny = Charge.of(DENY, BOB).inShadow();
		Charge local = Charge.of(LOCAL, BOB);
		for (boolean allowed : List.of(true, true, false, false)) {
			Decision decision = this.limiter
				.tryAcquire(RateLimitRequest.of(deny, Charge.of(ALLOW, BOB), local.inShadow()));
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.source()).isEqualTo(Source.NONE);
			assertThat(decision.statuses()).isEmpty();
			assertThat(decision.shadow(deny)).isEqualTo(Decision.withoutStore());
			assertThat(decision.shadow(local).source()).isEqualTo(Source.LOCAL);
			assertThat(decision.shadow(local).allowed()).isEqualTo(allowed);
			assertThat(decision.shadow(local).violated()).extracting(LimitStatus::policy)
				.isEqualTo(allowed ? List.of() : List.of(LOCAL));
		}
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(deny, local)).allowed()).isFalse();
	}

	/** A full store can still deny. */
	@Test
	void onlyAShadowThatIsCountedEndsAnOutage() {
		Charge shadow = Charge.of(LOCAL, BOB).inShadow();
		this.limiter.tryAcquire(RateLimitRequest.of(shadow.withCost(7)));
		this.full = true;
		this.limiter.tryAcquire(NEW);
		this.full = false;
		this.clock.advance(Duration.ofSeconds(10));
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(shadow)).shadow(shadow).allowed()).isFalse();
		assertThat(this.limiter.failingSince()).isPresent();
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(LOCAL, Identifier.GLOBAL).inShadow()));
		assertThat(this.limiter.failingSince()).isEmpty();
	}

}
