package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node of a cluster answers, as far as is known.
 */
final class NodeState {

	/** In a row, after which a node is not asked, or connections may be at fault. */
	private static final int OUTAGES = 5;

	private static final CircuitBreakerConfig CONFIG = CircuitBreakerConfig.custom()
		.slidingWindow(OUTAGES, OUTAGES, SlidingWindowType.COUNT_BASED)
		.failureRateThreshold(100)
		.waitDurationInOpenState(Duration.ofSeconds(1))
		.permittedNumberOfCallsInHalfOpenState(1)
		.writableStackTraceEnabled(false)
		.build();

	/** For how long an answer tells that a node is there. */
	private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final CircuitBreaker breaker = CircuitBreaker.of("ratelimit-node", CONFIG);

	private final AtomicInteger timeouts = new AtomicInteger();

	private volatile @Nullable Throwable failure = new IllegalStateException("It was not asked yet");

	private volatile long answered;

	/** The node has answered, be it with an error. */
	void answered() {
		this.answered = System.nanoTime();
		if (this.failure == null) {
			return;
		}
		this.failure = null;
		this.timeouts.set(0);
		if (this.breaker.getState() == CircuitBreaker.State.CLOSED) {
			// One answer is enough for failures not to be in a row.
			this.breaker.onSuccess(0, TimeUnit.NANOSECONDS);
		}
		else {
			this.breaker.transitionToClosedState();
		}
	}

	/** The node has not answered. */
	void failed(Throwable reason) {
		this.failure = reason;
		this.breaker.onError(0, TimeUnit.NANOSECONDS, reason);
	}

	/** It is not known whether the node would have answered. */
	void unknown() {
		this.breaker.releasePermission();
	}

	/** Whether so many time-outs in a row are more than a slow command. */
	boolean isTimeoutTooMany() {
		return this.timeouts.incrementAndGet() % OUTAGES == 0;
	}

	/** Whether the last that was heard of the node is an answer, a short time ago. */
	boolean answersLately() {
		return this.failure == null && System.nanoTime() - this.answered < LATELY_NANOS;
	}

	/** Why the node is not to be asked; {@code null} if it may be. */
	@Nullable Throwable reasonNotToAsk() {
		return (this.breaker.getState() != CircuitBreaker.State.CLOSED) ? this.failure : null;
	}

	/** Whether the node may be asked if it answers, which is so once a second. */
	boolean mayProbe() {
		return this.breaker.tryAcquirePermission();
	}

}
