package io.github.ratelimit;

import java.time.Duration;

/**
 * Blocks identifiers that are denied too often by one policy. An identifier that is
 * denied {@code after} times within {@code within} is blocked in this policy, for
 * {@code block} at first. Each further penalty lasts twice as long as the one before, up
 * to {@code up-to}. An identifier that has had no penalty for {@code up-to} since the
 * last one ended begins with {@code block} again.
 * <p>
 * <b>What counts.</b> A denial counts for an identifier if one of its own limits in the
 * policy was violated. These do not count:
 * <ul>
 * <li>Denials of requests that only share the identifier with a violated limit of another
 * identifier or policy.</li>
 * <li>Denials of an identifier that is blocked, by a penalty or manually. A client that
 * retries during a block does not prolong it: otherwise a program that nobody watches
 * would be blocked for ever, and a person who waits as long as {@code Retry-After} says
 * would be blocked again.</li>
 * <li>Costs that no limit can ever allow, as with {@link Policy#countDenied()}: that is a
 * mistake rather than impatience.</li>
 * <li>{@linkplain RateLimiter#peek Peeks}, and requests without cost.</li>
 * </ul>
 * <p>
 * <b>Bound.</b> Denials are counted in windows that begin with the first of them, so an
 * identifier is never blocked for fewer than {@code after} denials within {@code within},
 * and always for {@code 2 * after - 1}. A list of times would be exact, but it would grow
 * with {@code after}, at the command of those whom the limit keeps out.
 * <p>
 * <b>Blocks.</b> A penalty is an ordinary {@link Block} of the identifier in the policy,
 * which {@link BlockList} lists and ends. Ending it changes nothing else: the next
 * penalty lasts twice as long. {@link RateLimiter#reset} forgets former denials and
 * penalties as well, but ends no block.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param after how many denials lead to a block, from 1 to {@link #MAX_DENIALS}
 * @param within the time in which they are counted, in whole milliseconds, from 1 ms to
 * {@link Limit#MAX_WINDOW}
 * @param block how long the first block lasts, in whole milliseconds, from 1 ms to
 * {@link Limit#MAX_WINDOW}
 * @param upTo how long a block may last, in whole milliseconds, from {@code block} to
 * {@link Limit#MAX_WINDOW}; the same as {@code block} for blocks of the same length
 * @param shadow whether identifiers are not blocked, so that penalties are only reported
 * to the {@link PenaltyListener}. Denials are counted as if they were
 * @since 0.1
 */
public record Penalty(int after, Duration within, Duration block, Duration upTo, boolean shadow) {

	/**
	 * Largest number of denials that lead to a block.
	 */
	public static final int MAX_DENIALS = 1_000_000;

	/**
	 * Creates a penalty.
	 * @throws IllegalArgumentException if a number or time is out of range
	 */
	public Penalty {
		if (after < 1 || after > MAX_DENIALS) {
			throw new IllegalArgumentException(
					"Invalid number of denials (%d): must be from 1 to %d.".formatted(after, MAX_DENIALS));
		}
		requireTime("within", within);
		requireTime("block", block);
		requireTime("up-to", upTo);
		if (upTo.compareTo(block) < 0) {
			throw new IllegalArgumentException(
					"Invalid up-to (%s): must be at least as long as the first block (%s).".formatted(upTo, block));
		}
	}

	/**
	 * Creates a penalty that is enforced.
	 * @param after how many denials lead to a block
	 * @param within the time in which they are counted
	 * @param block how long the first block lasts
	 * @param upTo how long a block may last
	 * @throws IllegalArgumentException if a number or time is out of range
	 */
	public Penalty(int after, Duration within, Duration block, Duration upTo) {
		this(after, within, block, upTo, false);
	}

	private static void requireTime(String name, Duration time) {
		if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(Limit.MAX_WINDOW) > 0
				|| time.getNano() % 1_000_000 != 0) {
			throw new IllegalArgumentException("Invalid %s (%s): must be whole milliseconds, from 1ms to %dd."
				.formatted(name, time, Limit.MAX_WINDOW.toDays()));
		}
	}

	/**
	 * Returns the reason of the blocks of a policy, for people.
	 * @param policy the name of the policy
	 * @return such as {@code denied 20 times in 1m by policy 'login'}
	 */
	public String reason(String policy) {
		String window = new Limit(0, this.within).windowText();
		return "denied %d %s in %s by policy '%s'".formatted(this.after, (this.after == 1) ? "time" : "times",
				Character.isDigit(window.charAt(0)) ? window : "1" + window, policy);
	}

}
