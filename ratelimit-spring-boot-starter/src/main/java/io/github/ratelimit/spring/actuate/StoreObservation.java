package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Observes every call of the store that decides a request, as a span of the trace and a
 * timer.
 * <p>
 * Safe for use by several threads.
 */
final class StoreObservation implements RateLimiterDecorator {

	private static final StoreObservationConvention DEFAULT = new DefaultStoreObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable StoreObservationConvention convention;

	/**
	 * Creates an observation.
	 * @param registry the registry; nothing is observed if it is
	 * {@link ObservationRegistry#NOOP}
	 * @param convention names and describes the calls; {@code null} for the convention of
	 * the registry, or the default if it has none
	 */
	public StoreObservation(ObservationRegistry registry, @Nullable StoreObservationConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public RateLimiter decorate(RateLimiter limiter) {
		return this.registry.isNoop() ? limiter : new DelegatingRateLimiter(limiter) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				StoreObservationContext context = new StoreObservationContext(request);
				return Observation
					.createNotStarted(StoreObservation.this.convention, DEFAULT, () -> context,
							StoreObservation.this.registry)
					.observe(() -> {
						Decision decision = super.tryAcquire(request);
						context.setDecision(decision);
						return decision;
					});
			}

		};
	}

}
