package io.github.ratelimit;

/**
 * What a store keeps of one policy and identifier: numbers, and for some algorithms text.
 * <p>
 * Only the meter that is made of a state may change its numbers. There may be room after
 * them.
 *
 * @param numbers the numbers, whose meaning is the algorithm's business
 * @param text all texts, one after the other; empty if there are none
 * @since 0.1
 */
public record MeterState(long[] numbers, String text) {

	/**
	 * Creates a state without text.
	 * @param numbers the numbers
	 * @return the state
	 */
	public static MeterState of(long... numbers) {
		return new MeterState(numbers, "");
	}

}
