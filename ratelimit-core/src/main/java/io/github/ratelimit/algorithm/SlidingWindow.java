package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Counts in sub-windows of a window that slides: as {@link SlidingLog}, but requests of
 * one sub-window share an entry, so that the price does not grow with the quota.
 * <p>
 * <b>Bound:</b> in any stretch of time as long as the window, at most the quota is
 * admitted: a sub-window that is only partly inside the window counts whole. So a request
 * may be denied too early, by at most one sub-window. If the clock is set back, requests
 * of its future count as made now.
 * <p>
 * What denied requests and charges beyond the quota do is as in {@link SlidingLog}.
 * <p>
 * From "Rate Limiting: Sliding Window" (2018) and "3 Rate Limiting Patterns with Redis:
 * Pattern capable of Sliding Window aggregation".
 *
 * @param precision length of a sub-window, in whole milliseconds, at most that of the
 * shortest window; {@code null} for a sixtieth of the shortest window, but at least 1 ms
 * @since 0.1
 */
public record SlidingWindow(@Nullable Duration precision) implements Algorithm {

	/**
	 * Largest quota of a limit, 2<sup>38</sup>.
	 */
	public static final long MAX_QUOTA = 1L << 38;

	/**
	 * Largest number of sub-windows that may be in use at a time.
	 */
	public static final int MAX_SUB_WINDOWS = 10_000;

	private static final int DEFAULT_SUB_WINDOWS = 60;

	private static final int LARGE_BYTES = 16_384;

	/**
	 * Creates the algorithm with options.
	 * @throws IllegalArgumentException if the precision is not in whole milliseconds
	 */
	public SlidingWindow {
		if (precision != null && (precision.compareTo(Duration.ofMillis(1)) < 0 || precision.getNano() % 1_000_000 != 0
				|| precision.compareTo(Limit.MAX_WINDOW) > 0)) {
			throw new IllegalArgumentException(
					"Invalid precision (%s): must be whole milliseconds, at least 1ms.".formatted(precision));
		}
	}

	/**
	 * Creates the algorithm with the default precision.
	 */
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
		Limit shortest = limits.get(0);
		Limit longest = limits.get(limits.size() - 1);
		if (this.precision != null && this.precision.compareTo(shortest.window()) > 0) {
			throw new IllegalArgumentException("Invalid precision (%s): must not be longer than the window of %s."
				.formatted(this.precision, shortest));
		}
		long largestQuota = limits.stream().mapToLong(Limit::quota).max().orElseThrow();
		long subWindows = longest.windowMicros() / precisionMicros(limits);
		if (Math.min(subWindows, largestQuota) > MAX_SUB_WINDOWS) {
			throw new IllegalArgumentException(
					"Invalid precision (%s): the window of %s would have %d sub-windows, more than %d; set a longer precision."
						.formatted(Duration.ofNanos(1000 * precisionMicros(limits)), longest, subWindows,
								MAX_SUB_WINDOWS));
		}
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		long precision = precisionMicros(limits);
		return Map.of("PRECISION", precision, "METADATA", 0, "PIECES", isLarge(limits, precision) ? 1 : 0);
	}

	/** Whether a state may be too large to be read whole: more than 16 KB. */
	private static boolean isLarge(List<Limit> limits, long precision) {
		long largestQuota = limits.stream().mapToLong(Limit::quota).max().orElseThrow();
		long entries = Math.min(largestQuota + 1, limits.get(limits.size() - 1).windowMicros() / precision + 2);
		return 4 + 12 * entries > LARGE_BYTES;
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new LogMeter(limits, state, nowMicros, precisionMicros(limits), false);
	}

	private long precisionMicros(List<Limit> limits) {
		long millis = (this.precision == null) ? Math.max(1, limits.get(0).window().toMillis() / DEFAULT_SUB_WINDOWS)
				: this.precision.toMillis();
		return 1000 * millis;
	}

}
