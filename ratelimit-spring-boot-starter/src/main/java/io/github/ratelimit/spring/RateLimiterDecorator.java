package io.github.ratelimit.spring;

import io.github.ratelimit.RateLimiter;

/**
 * Puts something around the store that decides requests, such as measurements. Every bean
 * of this type does so, in order: the last is asked first. {@code RateLimiter} beans that
 * the application injects itself stay as they are.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RateLimiterDecorator {

	/**
	 * Decorates the store.
	 * @param limiter the store, or what another decorator made of it
	 * @return a rate limiter that asks it, and passes on its
	 * {@link io.github.ratelimit.StoreException}; the same if there is nothing to do
	 */
	RateLimiter decorate(RateLimiter limiter);

}
