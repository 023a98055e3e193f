/**
 * The API of the library: a {@link io.github.ratelimit.RateLimiter} decides whether a
 * {@link io.github.ratelimit.RateLimitRequest} is within the
 * {@link io.github.ratelimit.Limit}s of its {@link io.github.ratelimit.Policy policies},
 * and answers with a {@link io.github.ratelimit.Decision}.
 */
@NullMarked
package io.github.ratelimit;

import org.jspecify.annotations.NullMarked;
