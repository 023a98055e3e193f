package io.github.ratelimit.spring.chaos;

import java.time.Duration;

/**
 * What came of traffic during which something happened to Redis.
 *
 * @param counted responses that told what remains
 * @param uncounted responses that did not, because the store failed
 * @param used what Redis has counted
 * @param slowest the longest time that a response took
 * @param recovery how long it took until every instance limited again
 */
record Outcome(long counted, long uncounted, long used, Duration slowest, Duration recovery) {
}
