package io.github.ratelimit;

import java.time.Instant;

/**
 * The count of one window, as a point of a series.
 *
 * @param limit the limit that the window belongs to
 * @param end when the window ends or ended, to the microsecond
 * @param count the cost used in the window
 */
public record WindowCount(Limit limit, Instant end, long count) {

}
