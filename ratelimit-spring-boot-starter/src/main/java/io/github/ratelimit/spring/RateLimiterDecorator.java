package io.github.ratelimit.spring;

import io.github.ratelimit.RateLimiter;

/**
 * Decorates the store that decides requests, for example with measurements. All beans of
 * this type are applied in order; the last one is outermost. {@code RateLimiter} beans
 * that the application injects are not decorated.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RateLimiterDecorator {

	/**
	 * Decorates the store.
	 * @param limiter the store, or the result of another decorator
	 * @return a rate limiter that delegates to it and does not catch its
	 * {@link io.github.ratelimit.StoreException}; may be the given one
	 */
	RateLimiter decorate(RateLimiter limiter);

}
