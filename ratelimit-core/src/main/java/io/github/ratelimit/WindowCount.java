package io.github.ratelimit;

import java.time.Instant;

/**
 * What was used in one window, as a point of a series.
 *
 * @param limit the limit that the window belongs to
 * @param end when the window ends or ended, to the microsecond
 * @param count what was used in it
 * @since 0.1
 */
public record WindowCount(Limit limit, Instant end, long count) {

}
