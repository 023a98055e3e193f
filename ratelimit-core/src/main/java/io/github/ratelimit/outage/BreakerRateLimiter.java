package io.github.ratelimit.outage;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops asking a store that does not answer, so that requests do not wait for it: after
 * {@value #OUTAGES} outages in a row it throws a {@link StoreException} at once, which
 * takes microseconds.
 * <p>
 * From then on a thread in the background looks every second whether the store answers
 * again, by a {@linkplain RateLimiter#peek peek} at the request that failed last; no
 * request has to wait to find out. As soon as there is an answer, requests ask the store
 * again. Only outages count, and interrupts do not: a store that answers with an error
 * does so quickly, and may still deny requests, for which it only reads.
 * <p>
 * Resets always ask the store: whoever asks for one wants to know. Safe for use by
 * several threads. Close it to stop looking.
 *
 * @since 0.1
 */
public final class BreakerRateLimiter implements RateLimiter, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(BreakerRateLimiter.class);

	private static final int OUTAGES = 5;

	private static final float ALL = 100;

	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** Longer than any outage: probes close the breaker, and not time. */
	private static final Duration UNTIL_PROBED = Duration.ofDays(36_500);

	private final RateLimiter store;

	private final Predicate<StoreException> isOutage;

	private final Later later;

	private final CircuitBreaker breaker;

	/** What a probe looks at, and why it does; there is one before the breaker opens. */
	private volatile @Nullable Failure last;

	private volatile boolean closed;

	/**
	 * Creates a closed breaker, which asks the store.
	 * @param store the store
	 * @param isOutage tells outages from errors that the store answers with
	 */
	public BreakerRateLimiter(RateLimiter store, Predicate<StoreException> isOutage) {
		this(store, isOutage, new ProbeThread(PAUSE));
	}

	/**
	 * Creates a closed breaker.
	 * @param later runs probes when it is time for them
	 */
	BreakerRateLimiter(RateLimiter store, Predicate<StoreException> isOutage, Later later) {
		this.store = store;
		this.isOutage = isOutage;
		this.later = later;
		this.breaker = CircuitBreaker.of("ratelimit",
				CircuitBreakerConfig.custom()
					.slidingWindow(OUTAGES, OUTAGES, SlidingWindowType.COUNT_BASED)
					.failureRateThreshold(ALL)
					.waitDurationInOpenState(UNTIL_PROBED)
					.build());
		this.breaker.getEventPublisher().onStateTransition((event) -> {
			if (event.getStateTransition().getToState() == CircuitBreaker.State.OPEN) {
				this.later.execute(this::probe);
			}
		});
	}

	/**
	 * Returns whether requests fail at once, without asking the store.
	 * @return whether the breaker is open
	 */
	public boolean isOpen() {
		return this.breaker.getState() == CircuitBreaker.State.OPEN;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		requireClosed();
		try {
			Decision decision = this.store.tryAcquire(request);
			answered();
			return decision;
		}
		catch (StoreException ex) {
			throw failed(ex, request);
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		requireClosed();
		try {
			Decision decision = this.store.peek(request);
			answered();
			return decision;
		}
		catch (StoreException ex) {
			throw failed(ex, request);
		}
	}

	@Override
	public void refund(RateLimitRequest request) {
		requireClosed();
		try {
			this.store.refund(request);
			answered();
		}
		catch (StoreException ex) {
			throw failed(ex, request);
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		requireClosed();
		try {
			this.store.charge(request);
			answered();
		}
		catch (StoreException ex) {
			throw failed(ex, request);
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.store.reset(policy, identifier);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	/** Stops looking whether the store answers, and the thread that does. */
	@Override
	public void close() {
		this.closed = true;
		this.later.close();
	}

	private void requireClosed() {
		Failure failure = this.last;
		if (failure != null && !this.breaker.tryAcquirePermission()) {
			throw new StoreNotAskedException(failure.reason());
		}
	}

	private void answered() {
		this.breaker.onSuccess(0, TimeUnit.NANOSECONDS);
	}

	private StoreException failed(StoreException ex, RateLimitRequest request) {
		if (ex.isInterrupt()) {
			// Neither an outage nor an answer.
			this.breaker.releasePermission();
		}
		else if (this.isOutage.test(ex)) {
			this.last = new Failure(request, ex);
			this.breaker.onError(0, TimeUnit.NANOSECONDS, ex);
		}
		else {
			answered();
		}
		return ex;
	}

	private void probe() {
		Failure failure = this.last;
		if (failure == null || this.closed || !isOpen()) {
			return;
		}
		boolean answers = false;
		try {
			answers = answers(failure.request());
		}
		finally {
			// Whatever was thrown: without a next probe the breaker would stay open.
			if (!answers) {
				this.later.execute(this::probe);
			}
		}
		if (answers) {
			this.breaker.transitionToClosedState();
		}
	}

	private boolean answers(RateLimitRequest request) {
		try {
			this.store.peek(request);
			return true;
		}
		catch (StoreException ex) {
			return !ex.isInterrupt() && !this.isOutage.test(ex);
		}
		catch (RuntimeException ex) {
			logger.debug("A probe of the store failed", ex);
			return false;
		}
	}

	private record Failure(RateLimitRequest request, StoreException reason) {

	}

}
