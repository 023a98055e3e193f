package io.github.ratelimit;

import java.time.Instant;

/**
 * A request in the log of an algorithm.
 *
 * @param time when the request was decided, by the clock of the store, to the microsecond
 * @param cost the cost, less refunds
 * @param metadata the metadata of the request; empty if there was none, or the policy
 * keeps none
 */
public record LogEntry(Instant time, long cost, String metadata) {

}
