package io.github.ratelimit;

/**
 * The stored state of one policy and identifier: numbers, and for some algorithms text.
 * <p>
 * Only the meter that is created from a state may change its numbers. The array may have
 * unused room at its end.
 *
 * @param numbers the numbers, whose meaning depends on the algorithm
 * @param text all texts, concatenated; empty if there are none
 */
public record MeterState(long[] numbers, String text) {

	/** Creates a state without text. */
	public static MeterState of(long... numbers) {
		return new MeterState(numbers, "");
	}

}
