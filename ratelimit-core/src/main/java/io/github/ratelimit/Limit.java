package io.github.ratelimit;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A quota per window, such as 120 per minute.
 * <p>
 * The text form is {@code quota/window}: {@code 10/s}, {@code 120/m}, {@code 100/15m},
 * {@code 10/500ms}, {@code 1000/d}. A value; safe for use by several threads.
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
			return new Limit(quota, window(number, matcher.group(3)));
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException("Invalid limit (%s): %s".formatted(text,
					(ex instanceof NumberFormatException || ex instanceof ArithmeticException)
							? "the number is too large." : ex.getMessage()),
					ex);
		}
	}

	private static Duration window(long number, String unit) {
		return switch (unit) {
			case "ms" -> Duration.ofMillis(number);
			case "s" -> Duration.ofSeconds(number);
			case "m" -> Duration.ofMinutes(number);
			case "h" -> Duration.ofHours(number);
			default -> Duration.ofDays(number);
		};
	}

	/** Returns the length of the window in microseconds, a multiple of 1000. */
	public long windowMicros() {
		return this.window.toSeconds() * 1_000_000 + this.window.getNano() / 1000;
	}

	/**
	 * Returns the part after the slash in the text form: {@code m}, {@code 15m},
	 * {@code 500ms}.
	 */
	public String windowText() {
		long millis = this.window.toMillis();
		if (millis % 1000 != 0) {
			return text(millis, "ms");
		}
		long seconds = millis / 1000;
		if (seconds % 60 != 0) {
			return text(seconds, "s");
		}
		if (seconds % 3600 != 0) {
			return text(seconds / 60, "m");
		}
		return (seconds % 86_400 != 0) ? text(seconds / 3600, "h") : text(seconds / 86_400, "d");
	}

	private static String text(long number, String unit) {
		return (number == 1) ? unit : number + unit;
	}

	/** Returns the text form, which {@link #parse(String)} accepts. */
	@Override
	public String toString() {
		return this.quota + "/" + windowText();
	}

}
