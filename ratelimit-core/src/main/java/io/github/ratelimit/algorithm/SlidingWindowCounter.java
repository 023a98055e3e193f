package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Estimates a sliding window from two fixed ones: the count of the current window, and
 * that of the previous one, weighted by the part of it that the sliding window still
 * covers. Also known as sliding tail. The estimate is
 * {@code previous * previousWeight * left / window + current}, where {@code left} is the
 * time left of the current window. It is calculated exactly, and rounded once.
 * <p>
 * <b>Bound:</b> in any period as long as the window, one less than twice the quota is
 * admitted at worst, and about the quota in steady traffic. If the estimate is rounded
 * down, or the weight is 0, it is twice the quota at worst. The estimate may deny too
 * early. If the clock is set back, both counts become those of the current window and the
 * previous one.
 * <p>
 * From "Rate Limiting: Sliding Tail" (2018).
 *
 * @param previousWeight weight of the previous window, from 0 to 1, with at most six
 * decimal places; less is more permissive
 * @param rounding how the estimate is rounded
 */
public record SlidingWindowCounter(double previousWeight, Rounding rounding) implements Algorithm {

	/** How an estimate is rounded to a whole number. */
	public enum Rounding {

		/** Not at all, which decides as {@link #UP}: quotas and costs are whole. */
		NONE,

		/** Down, which admits up to one request more than the estimate would. */
		DOWN,

		/** Up. */
		UP

	}

	public SlidingWindowCounter {
		if (!(previousWeight >= 0 && previousWeight <= 1)) {
			throw new IllegalArgumentException(
					"Invalid previous weight (%s): must be between 0 and 1.".formatted(previousWeight));
		}
		if (millionths(previousWeight) / (double) SlidingWindowCounterMeter.UNIT != previousWeight) {
			throw new IllegalArgumentException(
					"Invalid previous weight (%s): must have at most six decimal places.".formatted(previousWeight));
		}
	}

	/**
	 * Creates the algorithm that weights the previous window fully and does not round.
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
		boolean isPartial = this.previousWeight > 0 && this.previousWeight < 1;
		return Map.of("WEIGHT", millionths(this.previousWeight), "PARTIAL", isPartial ? 1 : 0, "DOWN",
				(this.rounding == Rounding.DOWN) ? 1 : 0);
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new SlidingWindowCounterMeter(limits, state, nowMicros, millionths(this.previousWeight),
				this.rounding == Rounding.DOWN);
	}

	private static long millionths(double weight) {
		return Math.round(weight * SlidingWindowCounterMeter.UNIT);
	}

}
