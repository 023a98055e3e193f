package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;

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
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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

	/** Probes, until it is time for them. */
	private final Queue<Runnable> later = new ArrayDeque<>();

	private final OutageRateLimiter limiter = new OutageRateLimiter(this.store,
			(policy) -> this.modes.get(policy.name()), new LocalRateLimiter(new MemoryRateLimiter(this.clock), () -> 3),
			this.clock, this.later::add);

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
			.containsExactly("The store failed: until it answers, each policy does as its on-store-failure says. "
					+ "cannot write: java.lang.IllegalStateException: OOM");
		assertThat(this.log.list).extracting(ILoggingEvent::getThrowableProxy).containsOnlyNulls();
	}

	/** As by a Redis key that the user may not write. */
	@Test
	void storeThatFailsForOnePolicyOnlyIsSaidToFailOnce() {
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
	void storeThatFailsForOneIdentifierOnlyIsSaidToFailOnce() {
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
	void interruptIsNoFailureOfTheStore() {
		this.store.interrupted = true;
		assertThat(this.limiter.tryAcquire(NEW).source()).isEqualTo(Decision.Source.NONE);
		assertThat(this.limiter.failingSince()).isEmpty();
		assertThat(this.log.list).isEmpty();
		RateLimitRequest login = RateLimitRequest.of(LOGIN, Identifier.user("bob"));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(login));
	}

	@Test
	void requestIsAllowedWithoutNumbersWhenAllItsPoliciesAllowIt() {
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
	void storeIsKnownToAnswerAgainWithoutRequests() {
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		probe();
		assertThat(this.limiter.failingSince()).contains(Instant.parse("2026-01-01T00:00:00Z"));
		this.store.full = false;
		this.clock.advance(Duration.ofSeconds(1));
		probe();
		assertThat(this.limiter.failingSince()).isEmpty();
		assertThat(this.later).isEmpty();
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN, Level.INFO);
		// Nobody has paid for the probes.
		assertThat(this.limiter.peek(NEW).statuses().get(0).remaining()).isOne();
		assertThat(this.store.reset).containsExactly("ratelimit-probe");
	}

	/** To a quota of nothing no store charges anything. */
	@Test
	void probeAsksTheStoreWhateverTheQuotas() {
		Policy none = Policy.of("other", new SlidingLog(), Limit.parse("0/s"), Limit.parse("0/m"));
		this.store.full = true;
		this.store.unreadable = true;
		this.limiter.peek(RateLimitRequest.of(none, Identifier.user("bob")));
		this.clock.advance(Duration.ofSeconds(1));
		probe();
		assertThat(this.limiter.failingSince()).isPresent();
		this.store.full = false;
		probe();
		assertThat(this.limiter.failingSince()).isEmpty();
	}

	/** As in a cluster of which one node has failed. */
	@Test
	void probeAsksForAllIdentifiersOfTheRequestThatFailed() {
		this.store.gone = Identifier.user("erin");
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(POLICY, Identifier.ip("203.0.113.7")),
				Charge.of(OTHER, Identifier.ip("203.0.113.7"), Identifier.user("erin"))));
		this.clock.advance(Duration.ofSeconds(1));
		probe();
		assertThat(this.limiter.failingSince()).isPresent();
		this.store.gone = null;
		probe();
		assertThat(this.limiter.failingSince()).isEmpty();
		assertThat(this.store.reset).containsExactly("ratelimit-probe", "ratelimit-probe");
	}

	@Test
	void nameOfProbesIsRefused() {
		Policy policy = Policy.of("ratelimit-probe", new SlidingLog(), Limit.parse("1/s"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.requireSupported(policy))
			.withMessage(
					"Invalid policy name (ratelimit-probe): must be another, because the library counts by it whether the store answers.");
		this.limiter.requireSupported(POLICY);
	}

	@Test
	void probeProvesNothingWhileRequestsFail() {
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		this.clock.advance(Duration.ofSeconds(5));
		this.limiter.tryAcquire(NEW);
		this.store.full = false;
		this.clock.advance(Duration.ofSeconds(1).minusNanos(1));
		probe();
		assertThat(this.limiter.failingSince()).isPresent();
		this.clock.advance(Duration.ofNanos(1));
		probe();
		assertThat(this.limiter.failingSince()).isEmpty();
	}

	@Test
	void storeIsProbedOnceHoweverManyRequestsFail() {
		for (int i = 0; i < 3; i++) {
			this.store.full = true;
			this.limiter.tryAcquire(LOCAL_REQUEST);
			this.limiter.tryAcquire(LOCAL_REQUEST);
			this.store.full = false;
			this.limiter.tryAcquire(LOCAL_REQUEST);
			assertThat(this.limiter.failingSince()).isEmpty();
		}
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		for (int i = 0; i < 4; i++) {
			probe();
		}
		assertThat(this.later).hasSize(1);
	}

	@Test
	void storeIsProbedOnWhateverProbesFailBy() {
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		this.store.failure = new IllegalStateException("closed");
		probe();
		assertThat(this.later).hasSize(1);
		assertThat(this.limiter.failingSince()).isPresent();
	}

	@Test
	void storeIsNotProbedAnyMoreOnceClosed() {
		this.store.full = true;
		this.limiter.tryAcquire(NEW);
		this.limiter.close();
		this.store.full = false;
		probe();
		assertThat(this.later).isEmpty();
		assertThat(this.limiter.failingSince()).isPresent();
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
		assertThat(denied).isEqualTo(new Decision(false, List.of(new LimitStatus(LOCAL, Identifier.user("carol"),
				Limit.parse("7/m"), 0, Duration.ofSeconds(40), Duration.ofSeconds(40))), null, Decision.Source.LOCAL));
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
	void policyThatDeniesDeniesWhateverIsLeftLocally() {
		this.store.full = true;
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOCAL, Identifier.user("carol")),
				Charge.of(LOGIN, Identifier.user("carol")));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(request));
	}

	@Test
	void localCountsAreNotChargedToTheStoreAndGoOnWhenItFailsAgain() {
		this.store.full = true;
		this.limiter.tryAcquire(LOCAL_REQUEST);
		this.limiter.tryAcquire(LOCAL_REQUEST);
		this.store.full = false;
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).statuses().get(0).remaining()).isEqualTo(6);
		this.store.full = true;
		assertThat(this.limiter.tryAcquire(LOCAL_REQUEST).allowed()).isFalse();
	}

	private void probe() {
		this.later.remove().run();
	}

	/** Answers as a Redis does that has no memory left. */
	private static final class FullStore implements RateLimiter {

		private final MemoryRateLimiter counts = new MemoryRateLimiter(InstantSource.system());

		private boolean full;

		private @Nullable RuntimeException failure;

		private @Nullable Identifier gone;

		private final List<String> reset = new ArrayList<>();

		private boolean interrupted;

		private boolean unreadable;

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			if (this.interrupted) {
				throw new StoreException("interrupted", new InterruptedException());
			}
			requireNotGone(request);
			Decision decision = this.counts.peek(request);
			if (this.full && decision.allowed()) {
				throw new StoreException("cannot write", new IllegalStateException("OOM"));
			}
			return this.counts.tryAcquire(request);
		}

		private void requireNotGone(RateLimitRequest request) {
			if (this.gone != null
					&& request.charges().stream().anyMatch((charge) -> charge.identifiers().contains(this.gone))) {
				throw new StoreException("cannot write", new IllegalStateException("gone"));
			}
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			if (this.unreadable) {
				throw new StoreException("cannot read", new IllegalStateException("gone"));
			}
			return this.counts.peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			this.counts.refund(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			if (this.failure != null) {
				throw this.failure;
			}
			requireNotGone(request);
			boolean writes = request.withPossibleCosts().charges().stream().anyMatch((charge) -> charge.cost() > 0);
			if (this.full && writes) {
				throw new StoreException("cannot write", new IllegalStateException("OOM"));
			}
			this.counts.charge(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			this.reset.add(policy.name());
			this.counts.reset(policy, identifier);
		}

	}

}
