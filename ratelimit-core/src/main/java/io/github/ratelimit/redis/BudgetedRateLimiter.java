package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;

/**
 * Sets the {@link Deadline} of the thread for each call of a store, and finds out from
 * its failures whether connections are at fault.
 */
final class BudgetedRateLimiter implements RateLimiter {

	/** In a row, after which connections may be at fault. */
	private static final int TIMEOUTS = 5;

	private final RateLimiter store;

	private final Duration budget;

	private final AtomicInteger timeouts;

	private final Runnable afterFailure;

	/**
	 * Creates a rate limiter.
	 * @param timeouts counts time-outs in a row, for all that use the same connections
	 * @param afterFailure what is done when connections may be at fault
	 */
	BudgetedRateLimiter(RateLimiter store, Duration budget, AtomicInteger timeouts, Runnable afterFailure) {
		this.store = store;
		this.budget = budget;
		this.timeouts = timeouts;
		this.afterFailure = afterFailure;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return call(() -> this.store.tryAcquire(request));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return call(() -> this.store.peek(request));
	}

	@Override
	public void refund(RateLimitRequest request) {
		run(() -> this.store.refund(request));
	}

	@Override
	public void charge(RateLimitRequest request) {
		run(() -> this.store.charge(request));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		run(() -> this.store.reset(policy, identifier));
	}

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	private void run(Runnable call) {
		call(() -> {
			call.run();
			return true;
		});
	}

	private <T> T call(Supplier<T> call) {
		Deadline.set(this.budget);
		try {
			T answer = call.get();
			answered();
			return answer;
		}
		catch (StoreException ex) {
			failed(ex);
			throw ex;
		}
		finally {
			Deadline.clear();
		}
	}

	private void answered() {
		if (this.timeouts.get() != 0) {
			this.timeouts.set(0);
		}
	}

	private void failed(StoreException ex) {
		switch (RedisErrorKind.of(ex)) {
			case CONNECTION -> this.afterFailure.run();
			case TIMEOUT -> {
				if (this.timeouts.incrementAndGet() % TIMEOUTS == 0) {
					this.afterFailure.run();
				}
			}
			// The pool has cleared the flag when it threw the exception.
			case INTERRUPTED -> Thread.currentThread().interrupt();
			case POOL_EXHAUSTED -> {
			}
			default -> answered();
		}
	}

}
