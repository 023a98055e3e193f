package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a log as {@link SlidingLog} does, but a bounded one: if there are many requests,
 * those of a sub-window share an entry, so that the log does not grow with the quota. For
 * each limit of the policy it has at most {@value #MAX_EXACT_ENTRIES} entries of 12 bytes
 * in Redis, 1.5 KB.
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most the quota is admitted,
 * exactly. Nothing is denied too early while an identifier has had at most
 * {@value #MAX_EXACT_ENTRIES} requests for each limit of the policy in any period as long
 * as the longest window, also counting those with a larger quota and charges. With more,
 * requests of the same sub-window share one entry, and all of them count as made at the
 * time of the newest. A request may then be denied too early, by less than a sixtieth of
 * the window of the limit that denies it. With an explicit precision, each request counts
 * as made at the end of its sub-window, and may be denied too early by at most one
 * sub-window. If the clock is set back, requests in its future count as made now. Denied
 * requests that count and charges beyond the quota are handled as in {@link SlidingLog}.
 * <p>
 * From "Rate Limiting: Sliding Window" (2018) and "3 Rate Limiting Patterns with Redis:
 * Pattern capable of Sliding Window aggregation".
 *
 * @param precision length of all sub-windows, in whole milliseconds, not longer than the
 * shortest window; {@code null} for exact times if there are few requests, and
 * sub-windows of a sixtieth of each window if there are many
 */
public record SlidingWindow(@Nullable Duration precision) implements Algorithm {

	/** Largest quota of a limit, 2<sup>38</sup>. */
	public static final long MAX_QUOTA = 1L << 38;

	/** Largest number of sub-windows that may be in use at a time. */
	public static final int MAX_SUB_WINDOWS = 10_000;

	/** Number of requests per limit with exact times if there is no precision. */
	public static final int MAX_EXACT_ENTRIES = 128;

	public SlidingWindow {
		if (precision != null && (precision.compareTo(Duration.ofMillis(1)) < 0 || precision.getNano() % 1_000_000 != 0
				|| precision.compareTo(Limit.MAX_WINDOW) > 0)) {
			throw new IllegalArgumentException(
					"Invalid precision (%s): must be whole milliseconds, at least 1ms.".formatted(precision));
		}
	}

	/** Creates the algorithm with the default precision. */
	public SlidingWindow() {
		this(null);
	}

	@Override
	public String name() {
		return "sliding-window";
	}

	@Override
	public String script() {
		return "log";
	}

	@Override
	public String code() {
		return (this.precision == null) ? "sw" : "sw" + this.precision.toMillis();
	}

	@Override
	public long maxQuota() {
		return MAX_QUOTA;
	}

	@Override
	public void requireSupported(List<Limit> limits) {
		if (this.precision == null) {
			return;
		}
		Limit shortest = limits.get(0);
		Limit longest = limits.get(limits.size() - 1);
		if (this.precision.compareTo(shortest.window()) > 0) {
			throw new IllegalArgumentException("Invalid precision (%s): must not be longer than the window of %s."
				.formatted(this.precision, shortest));
		}
		long largestQuota = LogMeter.largestQuota(limits);
		long subWindows = longest.windowMicros() / precisionMicros();
		if (Math.min(subWindows, largestQuota) > MAX_SUB_WINDOWS) {
			throw new IllegalArgumentException(
					"Invalid precision (%s): the window of %s would have %s sub-windows, more than %s; set a longer precision."
						.formatted(this.precision, longest, subWindows, MAX_SUB_WINDOWS));
		}
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		if (this.precision == null) {
			return LogMeter.constants(12, 0, capacity(limits), false, 0);
		}
		long precision = precisionMicros();
		long subWindows = limits.get(limits.size() - 1).windowMicros() / precision + 1;
		return LogMeter.constants(12, precision, 0, false, Math.min(LogMeter.largestQuota(limits), subWindows));
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return (this.precision != null) ? new LogMeter(limits, state, nowMicros, precisionMicros(), 0, false)
				: new LogMeter(limits, state, nowMicros, 0, capacity(limits), false);
	}

	private static int capacity(List<Limit> limits) {
		return MAX_EXACT_ENTRIES * limits.size();
	}

	private long precisionMicros() {
		return 1000 * Objects.requireNonNull(this.precision).toMillis();
	}

}
