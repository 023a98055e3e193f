package io.github.ratelimit;

import java.time.Duration;

/**
 * Blocks identifiers that are denied too often by one policy: {@code after} times in a
 * period that begins with a denial and lasts {@code within}. The first block lasts for
 * {@code block}, and each further one twice as long as the one before, up to
 * {@code up-to}. An identifier that has had no penalty for {@code up-to} since the last
 * one ended begins with {@code block} again.
 * <p>
 * <b>What counts.</b> A denial counts for an identifier if one of its own limits in the
 * policy was violated, and it is not blocked: retrying during a block does not prolong
 * it. Costs that no limit can ever allow do not count, nor do peeks and requests without
 * cost.
 * <p>
 * <b>Bound.</b> Denials are counted in windows that begin with the first of them, so of
 * what the store has counted, fewer than {@code after} denials within {@code within}
 * never lead to a block, and {@code 2 * after - 1} always do. Denials from memory
 * ({@link io.github.ratelimit.denial.DenialCache}) count up to a second later, and not at
 * all if the process ends before, or the store fails or is full.
 * <p>
 * <b>Blocks.</b> A penalty is an ordinary {@link Block} of the identifier in the policy,
 * which {@link BlockList} lists and ends; the next penalty lasts twice as long anyway.
 * {@link RateLimiter#reset} forgets former denials and penalties, but ends no block. A
 * value; safe for use by several threads.
 *
 * @param after how many denials lead to a block, from 1 to {@link #MAX_DENIALS}
 * @param within the time in which they are counted, in whole milliseconds, from 1 ms to
 * {@link Limit#MAX_WINDOW}
 * @param block how long the first block lasts, in the same range
 * @param upTo how long a block may last, from {@code block} to {@link Limit#MAX_WINDOW}
 * @param shadow whether identifiers are not blocked, so that penalties are only reported
 * to the {@link PenaltyListener}. Denials are counted as if they were
 */
public record Penalty(int after, Duration within, Duration block, Duration upTo, boolean shadow) {

	/** Largest number of denials that lead to a block. */
	public static final int MAX_DENIALS = 1_000_000;

	/**
	 * Creates a penalty.
	 * @throws IllegalArgumentException if a number or time is out of range
	 */
	public Penalty {
		if (after < 1 || after > MAX_DENIALS) {
			throw new IllegalArgumentException(
					"Invalid number of denials (%s): must be from 1 to %s.".formatted(after, MAX_DENIALS));
		}
		Limit.requireTime("within", within);
		Limit.requireTime("block", block);
		Limit.requireTime("up-to", upTo);
		if (upTo.compareTo(block) < 0) {
			throw new IllegalArgumentException(
					"Invalid up-to (%s): must be at least as long as the first block (%s).".formatted(upTo, block));
		}
	}

	/** Creates a penalty that is enforced. */
	public Penalty(int after, Duration within, Duration block, Duration upTo) {
		this(after, within, block, upTo, false);
	}

	/**
	 * Returns the reason of the blocks: {@code denied 20 times in 1m by policy 'login'}.
	 */
	public String reason(String policy) {
		String window = new Limit(0, this.within).windowText();
		return "denied %s %s in %s by policy '%s'".formatted(this.after, (this.after == 1) ? "time" : "times",
				Character.isDigit(window.charAt(0)) ? window : "1" + window, policy);
	}

}
