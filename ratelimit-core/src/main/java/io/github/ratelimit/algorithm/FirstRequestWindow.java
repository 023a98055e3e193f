package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.algorithm.WindowCounterMeter.Window;
import org.jspecify.annotations.Nullable;

/**
 * Counts in windows that begin with the first request. The windows are not aligned, so
 * clients do not all return at the full minute. There is one counter for each limit.
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most twice the quota is admitted:
 * all but one at the end of a window, and the whole quota at the start of the next.
 * Within a window the count is exact, and nothing is denied too early. If the clock is
 * set back, a count lasts for at most one window from then.
 * <p>
 * From "3 Rate Limiting Patterns with Redis: Single Counter Pattern".
 */
public record FirstRequestWindow() implements Algorithm {

	@Override
	public String name() {
		return "first-request-window";
	}

	@Override
	public String script() {
		return "window-counter";
	}

	@Override
	public String code() {
		return "frw";
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("ALIGNED", 0, "PAST", 0);
	}

	@Override
	public boolean keepsWindows() {
		return true;
	}

	@Override
	public boolean supportsLeases() {
		return true;
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new WindowCounterMeter(limits, state, nowMicros, 1,
				(limit, now) -> new Window(now, now + limit.windowMicros(), 0, limit.windowMicros()));
	}

}
