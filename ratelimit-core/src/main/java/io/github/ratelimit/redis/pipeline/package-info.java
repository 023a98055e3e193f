/**
 * Counts with plain commands, where scripts are forbidden. A request is a transaction for
 * each slot ({@code Transaction}), in which each of its limits has a {@code Counter}:
 * {@code AlignedCounter} for windows that the clock begins, {@code FirstRequestCounter}
 * for those that a request begins. Internal: not for users of the library.
 */
@NullMarked
package io.github.ratelimit.redis.pipeline;

import org.jspecify.annotations.NullMarked;
