package io.github.ratelimit;

import java.time.Instant;

/**
 * A request that an algorithm with a log remembers.
 *
 * @param time when the request was made, by the clock that decided, to the microsecond
 * @param cost what it used of each quota, less what was refunded since
 * @param metadata the text that came with it; empty if there was none, or if the policy
 * keeps none
 * @since 0.1
 */
public record LogEntry(Instant time, long cost, String metadata) {

}
