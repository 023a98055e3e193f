package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.ratelimit.Charge;
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
import io.github.ratelimit.test.ManualClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class OutageRateLimiterTests {

	private static final Policy POLICY = Policy.of("api", new SlidingLog(), Limit.parse("1/d"));

	private static final Policy LOGIN = Policy.of("login", new SlidingLog(), Limit.parse("1/d"));

	private static final Policy LOCAL = Policy.of("local", new SlidingLog(), Limit.parse("7/m"), Limit.parse("100/h"));

	private static final Policy OTHER = Policy.of("other", new SlidingLog(), Limit.parse("2/m"));

	private static final RateLimitRequest LOCAL_REQUEST = RateLimitRequest.of(LOCAL, Identifier.user("carol"));

	private static final RateLimitRequest USED_UP = RateLimitRequest.of(POLICY, Identifier.user("alice"));

	private static final RateLimitRequest NEW = RateLimitRequest.of(POLICY, Identifier.user("bob"));

	private final Logger logger = (Logger) LoggerFactory.getLogger(OutageRateLimiter.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final FullStore store = new FullStore();

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final Map<String, OnStoreFailure> modes = Map.of("api", OnStoreFailure.ALLOW, "login", OnStoreFailure.DENY,
			"local", OnStoreFailure.LOCAL, "other", OnStoreFailure.LOCAL);

	private final OutageRateLimiter limiter = new OutageRateLimiter(this.store,
			(policy) -> this.modes.get(policy.name()), new LocalRateLimiter(new MemoryRateLimiter(this.clock), () -> 3),
			(failure) -> failure.getCause() instanceof TimeoutException, this.clock);

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.addAppender(this.log);
		this.limiter.tryAcquire(USED_UP);
	}

	@AfterEach
	void stopListening() {
		this.logger.detachAppender(this.log);
	}

	@Test
	void storeThatCanOnlyBeReadFailsOnce() {
		this.store.full = true;
		for (int i = 0; i < 5; i++) {
			assertThat(this.limiter.tryAcquire(NEW).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(USED_UP).allowed()).isFalse();
			assertThat(this.limiter.peek(NEW).allowed()).isTrue();
		}
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN);
		this.store.full = false;
		this.limiter.tryAcquire(NEW);
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN, Level.INFO);
	}

	@Test
	void warningNamesTheCause() {
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		assertThat(this.log.list).extracting(ILoggingEvent::getFormattedMessage)
			.containsExactly("The store failed: until it answers, the on-store-failure of each policy applies. "
					+ "cannot write: java.lang.IllegalStateException: OOM");
		assertThat(this.log.list).extracting(ILoggingEvent::getThrowableProxy).containsOnlyNulls();
	}

	/** As by a Redis key that the user may not write. */
	@Test
	void failureForOnePolicyIsLoggedOnce() {
		RateLimitRequest both = RateLimitRequest.of(Charge.of(OTHER, Identifier.user("bob")),
				Charge.of(POLICY, Identifier.user("bob")));
		RateLimitRequest other = RateLimitRequest.of(Charge.of(OTHER.withCountDenied(true), Identifier.user("erin")));
		for (int i = 0; i < 3; i++) {
			this.store.full = true;
			this.limiter.tryAcquire(both);
			this.store.full = false;
			this.clock.advance(Duration.ofSeconds(9));
			this.store.counts.reset(OTHER, Identifier.user("erin"));
			assertThat(this.limiter.tryAcquire(other).source()).isEqualTo(Decision.Source.STORE);
		}
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN);
		assertThat(this.limiter.failingSince()).contains(Instant.parse("2026-01-01T00:00:00Z"));
		this.clock.advance(Duration.ofSeconds(1));
		this.store.counts.reset(OTHER, Identifier.user("erin"));
		this.limiter.tryAcquire(other);
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN, Level.INFO);
	}

	/** As a cluster does when one of its masters is gone. */
	@Test
	void failureForOneIdentifierIsLoggedOnce() {
		for (int i = 0; i < 3; i++) {
			this.store.full = true;
			this.limiter.tryAcquire(LOCAL_REQUEST);
			this.store.full = false;
			this.clock.advance(Duration.ofSeconds(9));
			RateLimitRequest other = RateLimitRequest.of(LOCAL, Identifier.user("dave" + i));
			assertThat(this.limiter.tryAcquire(other).source()).isEqualTo(Decision.Source.STORE);
		}
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN);
		assertThat(this.limiter.failingSince()).contains(Instant.parse("2026-01-01T00:00:00Z"));
		this.limiter.tryAcquire(LOCAL_REQUEST);
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN, Level.INFO);
	}

	@Test
	void requestIsAllowedWithoutStatusesWhenAllPoliciesAllow() {
		this.store.full = true;
		Decision decision = this.limiter.tryAcquire(NEW);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).isEmpty();
		assertThat(decision.source()).isEqualTo(Decision.Source.NONE);
	}

	@Test
	void failureIsPassedOnWhenOneOfThePoliciesDenies() {
		this.store.full = true;
		RateLimitRequest request = RateLimitRequest.of(Charge.of(POLICY, Identifier.user("bob")),
				Charge.of(LOGIN, Identifier.user("bob")));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(request));
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN);
		this.store.full = false;
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Decision.Source.STORE);
	}

	@Test
	void storeFailsSinceItsFirstFailureUntilItAllowsRequest() {
		assertThat(this.limiter.failingSince()).isEmpty();
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		this.clock.advance(Duration.ofMinutes(1));
		this.limiter.tryAcquire(NEW);
		this.limiter.tryAcquire(USED_UP);
		assertThat(this.limiter.failingSince()).contains(Instant.parse("2026-01-01T00:00:00Z"));
		this.store.full = false;
		this.limiter.tryAcquire(USED_UP);
		assertThat(this.limiter.failingSince()).isPresent();
		this.limiter.tryAcquire(NEW);
		assertThat(this.limiter.failingSince()).isEmpty();
	}

	@Test
	void outageEndsWhenTheStoreIsSaidToAnswer() {
		this.store.failure = new StoreException("gone", new TimeoutException());
		this.limiter.tryAcquire(NEW);
		assertThat(this.limiter.isUnanswered()).isTrue();
		this.limiter.storeAnswers();
		assertThat(this.limiter.failingSince()).isEmpty();
		assertThat(this.limiter.isUnanswered()).isFalse();
		this.limiter.storeAnswers();
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN, Level.INFO);
	}

	@Test
	void answerDoesNotEndAnOutageOfErrors() {
		this.store.failure = new StoreException("gone", new TimeoutException());
		this.limiter.tryAcquire(NEW);
		this.store.failure = null;
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		this.limiter.storeAnswers();
		assertThat(this.limiter.isUnanswered()).isFalse();
		assertThat(this.limiter.failingSince()).isPresent();
		assertThat(this.limiter.lastFailure()).get().extracting(StoreException::getMessage).isEqualTo("cannot write");
	}

	@Test
	void anyAllowedRequestEndsTheOutageAfterTenSeconds() {
		this.store.full = true;
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
	void failureOfOthersBeginsAnOutage() {
		this.limiter.noteFailure(NEW, new StoreException("gone", new TimeoutException()));
		assertThat(this.limiter.failingSince()).contains(Instant.parse("2026-01-01T00:00:00Z"));
	}

	@Nested
	class Busy {

		private final RateLimitRequest local = RateLimitRequest.of(OTHER, Identifier.user("bob"));

		private final RateLimitRequest allow = RateLimitRequest.of(POLICY, Identifier.user("bob"));

		private final RateLimitRequest deny = RateLimitRequest.of(Charge.of(OTHER, Identifier.user("bob")),
				Charge.of(LOGIN, Identifier.user("bob")));

		@BeforeEach
		void overload() {
			OutageRateLimiterTests.this.store.failure = new StoreBusyException("Redis failed to decide a request",
					new TimeoutException("It was not sent in time"), "");
		}

		@Test
		void storeLimitsLocallyUnlessThePolicyDenies() {
			OutageRateLimiter limiter = OutageRateLimiterTests.this.limiter;
			for (RateLimitRequest request : List.of(this.local, this.allow)) {
				assertThat(limiter.peek(request).source()).isEqualTo(Decision.Source.LOCAL);
				assertThat(limiter.tryAcquire(request))
					.isEqualTo(new Decision(true, List.of(), null, Decision.Source.LOCAL));
				assertThat(limiter.tryAcquire(request).allowed()).isFalse();
			}
			assertThatExceptionOfType(StoreBusyException.class).isThrownBy(() -> limiter.tryAcquire(this.deny));
			assertThat(limiter.busyCount()).isEqualTo(7);
		}

		@Test
		void storeIsNoOutage() {
			OutageRateLimiter limiter = OutageRateLimiterTests.this.limiter;
			limiter.tryAcquire(this.local);
			limiter.refund(this.local);
			limiter.charge(this.local);
			limiter.noteFailure(this.local, Objects.requireNonNull(OutageRateLimiterTests.this.store.failure));
			assertThat(limiter.failingSince()).isEmpty();
			assertThat(limiter.busyCount()).isEqualTo(4);
		}

		@Test
		void storeChangesNothingAboutAnOutage() {
			OutageRateLimiter limiter = OutageRateLimiterTests.this.limiter;
			limiter.noteFailure(NEW, new StoreException("gone", new TimeoutException()));
			limiter.tryAcquire(this.allow);
			assertThat(limiter.lastFailure()).get().extracting(StoreException::getMessage).isEqualTo("gone");
		}

		@Test
		void storeIsReportedOnceUntilItWorkedForAMinute() {
			OutageRateLimiter limiter = OutageRateLimiterTests.this.limiter;
			List<String> messages = new ArrayList<>();
			for (int second = 0; second <= 120; second++) {
				limiter.peek(this.local);
				OutageRateLimiterTests.this.clock.advance(Duration.ofSeconds(1));
			}
			OutageRateLimiterTests.this.clock.advance(Duration.ofMinutes(1));
			limiter.peek(this.local);
			OutageRateLimiterTests.this.log.list.forEach((event) -> messages.add(event.getFormattedMessage()));
			assertThat(messages).hasSize(2).allMatch((message) -> message.endsWith("It was not sent in time"));
			assertThat(messages.get(1)).startsWith("The store did not decide in time (122 requests so far): ");
		}

	}

	@Test
	void policiesThatWantItAreLimitedLocally() {
		this.store.full = true;
		for (int i = 0; i < 2; i++) {
			Decision allowed = this.limiter.tryAcquire(LOCAL_REQUEST);
			assertThat(allowed).isEqualTo(new Decision(true, List.of(), null, Decision.Source.LOCAL));
			this.clock.advance(Duration.ofSeconds(10));
		}
		Decision denied = this.limiter.tryAcquire(LOCAL_REQUEST);
		assertThat(denied)
			.isEqualTo(
					new Decision(false,
							List.of(new LimitStatus(LOCAL, Identifier.user("carol"), Limit.parse("7/m"), 0,
									Duration.ofSeconds(40), Duration.ofSeconds(40), true)),
							null, Decision.Source.LOCAL));
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST)).isEqualTo(denied);
	}

	@Test
	void localPoliciesAreDecidedTogetherAndOthersAreAllowed() {
		this.store.full = true;
		RateLimitRequest request = RateLimitRequest.of(Charge.of(POLICY, Identifier.user("carol")),
				Charge.of(LOCAL, Identifier.user("carol")), Charge.of(OTHER, Identifier.user("carol")));
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Decision.Source.LOCAL);
		assertThat(this.limiter.tryAcquire(request).violated()).extracting(LimitStatus::policy).containsExactly(OTHER);
		// What was denied because of the other policy has used nothing of this one.
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).isFalse();
	}

	@Test
	void shadowsDenyNothingWhenTheStoreFails() {
		this.store.full = true;
		Charge login = Charge.of(LOGIN, Identifier.user("carol")).inShadow();
		Charge local = LOCAL_REQUEST.charges().get(0);
		Charge open = Charge.of(POLICY, Identifier.user("carol"));
		Decision none = this.limiter.tryAcquire(RateLimitRequest.of(login, open));
		assertThat(none.source()).isEqualTo(Decision.Source.NONE);
		assertThat(none.shadow(login)).isEqualTo(Decision.withoutStore());
		for (boolean allowed : List.of(true, true, false, false)) {
			Decision decision = this.limiter.tryAcquire(RateLimitRequest.of(login, open, local.inShadow()));
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.source()).isEqualTo(Decision.Source.NONE);
			assertThat(decision.shadow(login)).isEqualTo(Decision.withoutStore());
			assertThat(decision.shadow(local).source()).isEqualTo(Decision.Source.LOCAL);
			assertThat(decision.shadow(local).allowed()).isEqualTo(allowed);
		}
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(login, local)).allowed()).isFalse();
	}

	/** A full store can still deny. */
	@Test
	void onlyAShadowThatIsCountedEndsAnOutage() {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOCAL, Identifier.user("carol")).inShadow());
		this.limiter.tryAcquire(RateLimitRequest.of(request.charges().get(0).withCost(7)));
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		this.store.full = false;
		this.clock.advance(Duration.ofSeconds(10));
		assertThat(this.limiter.tryAcquire(request).shadow(request.charges().get(0)).allowed()).isFalse();
		assertThat(this.limiter.failingSince()).isPresent();
		RateLimitRequest other = RateLimitRequest.of(Charge.of(LOCAL, Identifier.user("dave")).inShadow());
		assertThat(this.limiter.tryAcquire(other).shadow(other.charges().get(0)).allowed()).isTrue();
		assertThat(this.limiter.failingSince()).isEmpty();
	}

	@Test
	void localCountsGoOnWhenTheStoreFailsAgain() {
		this.store.full = true;
		this.limiter.tryAcquire(LOCAL_REQUEST);
		this.limiter.tryAcquire(LOCAL_REQUEST);
		this.store.full = false;
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).statuses().get(0).remaining()).isEqualTo(6);
		this.store.full = true;
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).isFalse();
	}

	/** Answers as a Redis does that has no memory left. */
	private static final class FullStore implements RateLimiter {

		private final MemoryRateLimiter counts = new MemoryRateLimiter(InstantSource.system());

		private boolean full;

		private @Nullable StoreException failure;

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			requireNoFailure();
			Decision decision = this.counts.peek(request);
			if (this.full && decision.allowed()) {
				throw new StoreException("cannot write", new IllegalStateException("OOM"));
			}
			return this.counts.tryAcquire(request);
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			requireNoFailure();
			return this.counts.peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			requireNoFailure();
			this.counts.refund(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			requireNoFailure();
			this.counts.charge(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			this.counts.reset(policy, identifier);
		}

		private void requireNoFailure() {
			if (this.failure != null) {
				throw this.failure;
			}
		}

	}

}
