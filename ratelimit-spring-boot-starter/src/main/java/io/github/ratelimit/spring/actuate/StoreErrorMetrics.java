package io.github.ratelimit.spring.actuate;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counts the errors of the store by kind.
 * <p>
 * Safe for use by several threads.
 */
final class StoreErrorMetrics implements RateLimiterDecorator {

	/**
	 * Name of the counter of errors.
	 */
	public static final String NAME = "ratelimit.store.errors";

	private final Map<RedisErrorKind, Counter> counters = new EnumMap<>(RedisErrorKind.class);

	/**
	 * Creates metrics.
	 * @param registry the registry of the meters
	 */
	public StoreErrorMetrics(MeterRegistry registry) {
		for (RedisErrorKind kind : RedisErrorKind.values()) {
			this.counters.put(kind,
					Counter.builder(NAME)
						.description("Errors of the store when it was asked for decisions")
						.tag("kind", kind.text())
						.register(registry));
		}
	}

	@Override
	public RateLimiter decorate(RateLimiter limiter) {
		return new DelegatingRateLimiter(limiter) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				return counted(() -> super.tryAcquire(request));
			}

			@Override
			public Decision peek(RateLimitRequest request) {
				return counted(() -> super.peek(request));
			}

			@Override
			public void refund(RateLimitRequest request) {
				counted(() -> super.refund(request));
			}

			@Override
			public void charge(RateLimitRequest request) {
				counted(() -> super.charge(request));
			}

		};
	}

	private <T> T counted(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (StoreException ex) {
			count(ex);
			throw ex;
		}
	}

	private void counted(Runnable call) {
		counted(() -> {
			call.run();
			return true;
		});
	}

	private void count(StoreException ex) {
		Counter counter = this.counters.get(RedisErrorKind.of(ex));
		if (counter != null) {
			counter.increment();
		}
	}

}
