package io.github.ratelimit;

/**
 * The stored state of one policy and identifier. Only the meter that is created from it
 * may change its numbers.
 *
 * @param numbers what the algorithm keeps; there may be unused room at the end
 * @param text all texts, concatenated; empty if there are none
 */
public record MeterState(long[] numbers, String text) {

	/** Creates a state without text. */
	public static MeterState of(long... numbers) {
		return new MeterState(numbers, "");
	}

}
