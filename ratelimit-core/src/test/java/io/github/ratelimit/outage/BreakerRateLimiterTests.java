package io.github.ratelimit.outage;

import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeoutException;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class BreakerRateLimiterTests {

	private static final Policy POLICY = Policy.of("api", new SlidingLog(), Limit.parse("100/d"));

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, Identifier.user("alice"));

	private static final RuntimeException OUTAGE = new StoreException("gone", new TimeoutException());

	private static final RuntimeException ERROR = new StoreException("full", new IllegalStateException("OOM"));

	private static final RuntimeException INTERRUPT = new StoreException("interrupted", new InterruptedException());

	private final FailingStore store = new FailingStore();

	/** Probes, until it is time for them. */
	private final Queue<Runnable> later = new ArrayDeque<>();

	private final BreakerRateLimiter limiter = new BreakerRateLimiter(this.store,
			(ex) -> ex.getCause() instanceof TimeoutException, this.later::add);

	@Test
	void storeIsNotAskedAnyMoreAfterFiveOutages() {
		this.store.failure = OUTAGE;
		for (int i = 0; i < 5; i++) {
			assertThat(this.limiter.isOpen()).isFalse();
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST))
				.isSameAs(OUTAGE);
		}
		assertThat(this.limiter.isOpen()).isTrue();
		assertThat(this.store.calls).isEqualTo(5);
		assertNotAsked(() -> this.limiter.tryAcquire(REQUEST));
		assertNotAsked(() -> this.limiter.peek(REQUEST));
		assertNotAsked(() -> this.limiter.refund(REQUEST));
		assertNotAsked(() -> this.limiter.charge(REQUEST));
		assertThat(this.store.calls).isEqualTo(5);
	}

	@Test
	void allCallsCount() {
		this.store.failure = OUTAGE;
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.peek(REQUEST));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.refund(REQUEST));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.charge(REQUEST));
		assertThat(this.limiter.isOpen()).isFalse();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.charge(REQUEST));
		assertThat(this.limiter.isOpen()).isTrue();
	}

	@Test
	void outagesAmongAnswersLeaveItClosed() {
		for (int i = 0; i < 100; i++) {
			this.store.failure = (i % 5 != 0) ? OUTAGE : null;
			try {
				this.limiter.tryAcquire(REQUEST);
			}
			catch (StoreException ex) {
				assertThat(ex).isSameAs(OUTAGE);
			}
		}
		assertThat(this.store.calls).isEqualTo(100);
		assertThat(this.limiter.isOpen()).isFalse();
	}

	@Test
	void outagesInARowOpenItAfterManyAnswersAsWell() {
		for (int i = 0; i < 50; i++) {
			this.limiter.tryAcquire(REQUEST);
		}
		this.store.failure = OUTAGE;
		for (int i = 0; i < 20; i++) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST));
		}
		assertThat(this.store.calls).isEqualTo(55);
	}

	@Test
	void errorsThatAreNoOutagesLeaveItClosed() {
		this.store.failure = ERROR;
		for (int i = 0; i < 20; i++) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST))
				.isSameAs(ERROR);
		}
		assertThat(this.store.calls).isEqualTo(20);
		assertThat(this.later).isEmpty();
	}

	@Test
	void interruptsAreNeitherOutagesNorAnswers() {
		for (int i = 0; i < 20; i++) {
			this.store.failure = INTERRUPT;
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST))
				.isSameAs(INTERRUPT);
			this.store.failure = OUTAGE;
			assertThat(this.limiter.isOpen()).isFalse();
			if (i >= 15) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST));
			}
		}
		assertThat(this.limiter.isOpen()).isTrue();
		this.store.failure = INTERRUPT;
		this.later.remove().run();
		assertThat(this.limiter.isOpen()).isTrue();
		assertThat(this.later).hasSize(1);
	}

	@Test
	void faultsOfTheCallerDoNotCount() {
		this.store.failure = new IllegalStateException("fault");
		for (int i = 0; i < 20; i++) {
			assertThatIllegalStateException().isThrownBy(() -> this.limiter.tryAcquire(REQUEST));
		}
		assertThat(this.limiter.isOpen()).isFalse();
	}

	@Test
	void probesGoOnUntilTheStoreAnswers() {
		open();
		for (int i = 0; i < 20; i++) {
			assertThat(this.later).hasSize(1);
			this.later.remove().run();
			assertThat(this.limiter.isOpen()).isTrue();
		}
		assertThat(this.store.calls).isEqualTo(25);
		this.store.failure = null;
		assertNotAsked(() -> this.limiter.tryAcquire(REQUEST));
		this.later.remove().run();
		assertThat(this.later).isEmpty();
		assertThat(this.limiter.isOpen()).isFalse();
		assertThat(this.limiter.tryAcquire(REQUEST).statuses()).singleElement()
			.hasFieldOrPropertyWithValue("remaining", 99L);
	}

	@Test
	void storeThatAnswersWithAnErrorIsAskedAgain() {
		open();
		this.store.failure = ERROR;
		this.later.remove().run();
		assertThat(this.limiter.isOpen()).isFalse();
		assertThat(this.later).isEmpty();
	}

	@Test
	void probeThatHasAFaultIsNotTheLast() {
		open();
		this.store.failure = new IllegalStateException("fault");
		this.later.remove().run();
		assertThat(this.limiter.isOpen()).isTrue();
		assertThat(this.later).hasSize(1);
	}

	@Test
	void probeThatEndsInAnErrorOfTheMachineIsNotTheLast() {
		open();
		this.store.error = new OutOfMemoryError("unable to create native thread");
		Runnable probe = this.later.remove();
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(probe::run);
		assertThat(this.limiter.isOpen()).isTrue();
		assertThat(this.later).hasSize(1);
	}

	@Test
	void itOpensAgainWhenTheStoreFailsAgain() {
		open();
		this.store.failure = null;
		this.later.remove().run();
		open();
		assertThat(this.later).hasSize(1);
		assertNotAsked(() -> this.limiter.tryAcquire(REQUEST));
	}

	@Test
	void resetAsksTheStoreInAnyCase() {
		open();
		assertThatExceptionOfType(StoreException.class)
			.isThrownBy(() -> this.limiter.reset(POLICY, Identifier.user("alice")))
			.isSameAs(OUTAGE);
	}

	@Test
	void nothingProbesAfterItWasClosed() {
		open();
		this.limiter.close();
		this.later.remove().run();
		assertThat(this.store.calls).isEqualTo(5);
		assertThat(this.later).isEmpty();
	}

	private void open() {
		this.store.failure = OUTAGE;
		for (int i = 0; i < 5; i++) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(REQUEST));
		}
		assertThat(this.limiter.isOpen()).isTrue();
	}

	private static void assertNotAsked(Runnable call) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(call::run)
			.withMessage("The store is not asked because it does not answer")
			.withCause(OUTAGE)
			.satisfies((ex) -> assertThat(ex.getStackTrace()).isEmpty());
	}

	private static final class FailingStore implements RateLimiter {

		private final MemoryRateLimiter counts = new MemoryRateLimiter(InstantSource.system());

		private @Nullable RuntimeException failure;

		private @Nullable Error error;

		private int calls;

		private void call() {
			this.calls++;
			if (this.error != null) {
				throw this.error;
			}
			if (this.failure != null) {
				throw this.failure;
			}
		}

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			call();
			return this.counts.tryAcquire(request);
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			call();
			return this.counts.peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			call();
			this.counts.refund(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			call();
			this.counts.charge(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			call();
			this.counts.reset(policy, identifier);
		}

	}

}
