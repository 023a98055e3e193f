package io.github.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A quota per window. The text form is {@code quota/window}: {@code 10/s}, {@code 120/m},
 * {@code 100/15m}, {@code 10/500ms}, {@code 1000/d}. A value; safe for use by several
 * threads.
 *
 * @param quota the cost that may be used in a window, from 0 (nothing is ever allowed) to
 * {@link #MAX_QUOTA}
 * @param window the length of the window, in whole milliseconds, from 1 ms to
 * {@link #MAX_WINDOW}
 */
public record Limit(long quota, Duration window) {

	/**
	 * Largest quota, 2<sup>53</sup> - 1: the largest integer that Redis scripts hold
	 * exactly.
	 */
	public static final long MAX_QUOTA = (1L << 53) - 1;

	/** Longest window: ten years of 365 days. */
	public static final Duration MAX_WINDOW = Duration.ofDays(3650);

	private static final List<String> UNITS = List.of("d", "h", "m", "s", "ms");

	private static final long[] UNIT_MILLIS = { 86_400_000, 3_600_000, 60_000, 1000, 1 };

	private static final Pattern TEXT = Pattern.compile("(\\d{1,19})/(\\d{0,19})(ms|s|m|h|d)");

	/**
	 * Creates a limit.
	 * @throws IllegalArgumentException if the quota or the window is out of range
	 */
	public Limit {
		if (quota < 0 || quota > MAX_QUOTA) {
			throw new IllegalArgumentException(
					"Invalid quota (%s): must be between 0 and %s.".formatted(quota, MAX_QUOTA));
		}
		requireTime("window", window);
	}

	/** Refuses a time that no window can have. */
	static void requireTime(String name, Duration time) {
		if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(MAX_WINDOW) > 0
				|| time.getNano() % 1_000_000 != 0) {
			throw new IllegalArgumentException("Invalid %s (%s): must be whole milliseconds, from 1ms to %sd."
				.formatted(name, time, MAX_WINDOW.toDays()));
		}
	}

	/**
	 * Parses the text form of a limit.
	 * @param text {@code quota/window}, where the window is an optional number and one of
	 * the units {@code ms}, {@code s}, {@code m}, {@code h} and {@code d} (24 hours)
	 * @throws IllegalArgumentException if the text is not a limit, or the quota or the
	 * window is out of range
	 */
	public static Limit parse(String text) {
		Matcher matcher = TEXT.matcher(text.strip());
		if (!matcher.matches()) {
			throw new IllegalArgumentException("Invalid limit (" + text
					+ "): must be quota/window, such as 10/s, 100/15m or 10/500ms; the units are ms, s, m, h and d.");
		}
		try {
			long quota = Long.parseLong(matcher.group(1));
			long number = matcher.group(2).isEmpty() ? 1 : Long.parseLong(matcher.group(2));
			long unit = UNIT_MILLIS[UNITS.indexOf(matcher.group(3))];
			return new Limit(quota, Duration.ofMillis(unit).multipliedBy(number));
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException("Invalid limit (%s): %s".formatted(text,
					(ex instanceof NumberFormatException || ex instanceof ArithmeticException)
							? "the number is too large." : ex.getMessage()),
					ex);
		}
	}

	/** Returns the length of the window in microseconds, a multiple of 1000. */
	public long windowMicros() {
		return this.window.toSeconds() * 1_000_000 + this.window.getNano() / 1000;
	}

	/** Returns the part after the slash in the text form, such as {@code 15m}. */
	public String windowText() {
		int unit = 0;
		while (this.window.toMillis() % UNIT_MILLIS[unit] != 0) {
			unit++;
		}
		long number = this.window.toMillis() / UNIT_MILLIS[unit];
		return ((number == 1) ? "" : number) + UNITS.get(unit);
	}

	/** Returns the text form, which {@link #parse(String)} accepts. */
	@Override
	public String toString() {
		return this.quota + "/" + windowText();
	}

}
