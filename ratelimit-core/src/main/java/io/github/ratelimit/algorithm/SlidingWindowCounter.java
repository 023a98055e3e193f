package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Estimates a sliding window from two fixed ones: the count of the present window, and
 * that of the one before, weighted by how much of it the sliding window still covers.
 * Also known as sliding tail.
 * <p>
 * <b>Bound:</b> in any stretch of time as long as the window, just under twice the quota
 * is admitted at worst; near the quota for steady traffic. Because it estimates, it may
 * deny too early. If the clock is set back, both counts are those of the present window
 * and the one before it.
 * <p>
 * From "Rate Limiting: Sliding Tail" (2018).
 *
 * @param previousWeight weight of the window before, from 0 to 1; less is more permissive
 * @param rounding how the estimate is rounded
 * @since 0.1
 */
public record SlidingWindowCounter(double previousWeight, Rounding rounding) implements Algorithm {

	/**
	 * How an estimate is rounded to a whole number.
	 */
	public enum Rounding {

		/** Not at all. */
		NONE,

		/** Down, which admits up to one request more than the estimate would. */
		DOWN,

		/** Up. */
		UP;

		double round(double estimate) {
			return switch (this) {
				case NONE -> estimate;
				case DOWN -> Math.floor(estimate);
				case UP -> Math.ceil(estimate);
			};
		}

		/**
		 * By how much an estimate may exceed a whole number and still be rounded to it.
		 */
		int slack() {
			return (this == DOWN) ? 1 : 0;
		}

	}

	/**
	 * Creates the algorithm with options.
	 * @throws IllegalArgumentException if the weight is out of range
	 */
	public SlidingWindowCounter {
		if (!(previousWeight >= 0 && previousWeight <= 1)) {
			throw new IllegalArgumentException(
					"Invalid previous weight (%s): must be between 0 and 1.".formatted(previousWeight));
		}
	}

	/**
	 * Creates the algorithm that weighs the window before fully and does not round.
	 */
	public SlidingWindowCounter() {
		this(1, Rounding.NONE);
	}

	@Override
	public String name() {
		return "sliding-window-counter";
	}

	@Override
	public String code() {
		return "swc";
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("WEIGHT", this.previousWeight, "ROUND_DOWN", (this.rounding == Rounding.DOWN) ? 1 : 0, "ROUND_UP",
				(this.rounding == Rounding.UP) ? 1 : 0);
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new SlidingWindowCounterMeter(limits, state, nowMicros, this.previousWeight, this.rounding);
	}

}
