/**
 * Counts with plain commands, where scripts are forbidden. A request is a transaction for
 * each slot ({@code Transaction}), in which each of its limits has a {@code Counter}.
 * Internal: not for users of the library.
 */
@NullMarked
package io.github.ratelimit.redis.pipeline;

import org.jspecify.annotations.NullMarked;
