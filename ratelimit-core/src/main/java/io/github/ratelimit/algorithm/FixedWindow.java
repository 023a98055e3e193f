package io.github.ratelimit.algorithm;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;

/**
 * Counts in windows that are aligned to the epoch: a minute's quota is new at every full
 * minute. The cheapest algorithm, with one counter for each limit.
 * <p>
 * <b>Bound:</b> in any stretch of time as long as the window, at most twice the quota is
 * admitted: all of it at the end of one window and again at the start of the next. Within
 * a window the count is exact, and nothing is denied too early. If the clock is set back,
 * a count lasts for at most one window from then.
 * <p>
 * From "Introduction to rate limiting with Redis, part 1" (Josiah Carlson, 2014) and
 * "Rate Limiting: Fixed Window Counters" (2018).
 *
 * @since 0.1
 */
public record FixedWindow() implements Algorithm {

	@Override
	public String name() {
		return "fixed-window";
	}

	@Override
	public String code() {
		return "fw";
	}

	@Override
	public Meter meter(List<Limit> limits, long @Nullable [] state, long nowMicros) {
		return new FixedWindowMeter(limits, state, nowMicros);
	}

}
