package io.github.ratelimit;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The answer to a {@linkplain RateLimiter#reserve reservation}. A value; safe for use by
 * several threads.
 *
 * @param decision whether the cost was used, with the status of every limit afterwards
 * @param at when it was used, by the clock of the store, to the microsecond; {@code null}
 * if it was not used, or the store does not return the time, so that it cannot be
 * cancelled
 */
public record Reservation(Decision decision, @Nullable Instant at) {

}
