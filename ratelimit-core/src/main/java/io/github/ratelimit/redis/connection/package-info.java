/**
 * Sends calls in batches over a few connections. Knows nothing of rate limits. Times are
 * those of {@link System#nanoTime()}. Internal: not for users of the library.
 */
@NullMarked
package io.github.ratelimit.redis.connection;

import org.jspecify.annotations.NullMarked;
