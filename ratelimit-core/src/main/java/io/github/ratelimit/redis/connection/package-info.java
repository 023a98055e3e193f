/**
 * Hands calls over to a few connections, which send together what waits. Knows nothing of
 * rate limits. Deadlines and moments are times of {@link System#nanoTime()}. Internal:
 * not for users of the library.
 */
@NullMarked
package io.github.ratelimit.redis.connection;

import org.jspecify.annotations.NullMarked;
