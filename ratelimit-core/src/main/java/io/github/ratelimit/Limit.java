package io.github.ratelimit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A quota per window. The text form is {@code quota/window}: {@code 10/s}, {@code 120/m},
 * {@code 100/15m}, {@code 10/500ms}, {@code 1000/d}, {@code 100/month}. A value; safe for
 * use by several threads.
 *
 * @param quota the cost that may be used in a window, from 0 (nothing is ever allowed) to
 * {@link #MAX_QUOTA}
 * @param window the length of the window, in whole milliseconds, from 1 ms to
 * {@link #MAX_WINDOW}; of a calendar unit the longest, in days of 24 hours: 7, 31 or 366
 * @param calendar {@link ChronoUnit#WEEKS WEEKS}, {@link ChronoUnit#MONTHS MONTHS} or
 * {@link ChronoUnit#YEARS YEARS} if each window is one of the calendar, which the
 * {@linkplain Algorithm#followsCalendar algorithm} must support; {@code null} if all are
 * equally long
 */
public record Limit(long quota, Duration window, @Nullable ChronoUnit calendar) {

	/**
	 * Largest quota, 2<sup>53</sup> - 1: the largest integer that Redis scripts hold
	 * exactly.
	 */
	public static final long MAX_QUOTA = (1L << 53) - 1;

	/** Longest window: ten years of 365 days. */
	public static final Duration MAX_WINDOW = Duration.ofDays(3650);

	private static final List<ChronoUnit> UNITS = List.of(ChronoUnit.MILLIS, ChronoUnit.SECONDS, ChronoUnit.MINUTES,
			ChronoUnit.HOURS, ChronoUnit.DAYS, ChronoUnit.WEEKS, ChronoUnit.MONTHS, ChronoUnit.YEARS);

	private static final List<String> UNIT_TEXTS = List.of("ms", "s", "m", "h", "d", "week", "month", "year");

	private static final Pattern TEXT = Pattern.compile("(\\d{1,19})/(\\d{0,19})(ms|s|m|h|d|week|month|year)");

	/**
	 * Creates a limit.
	 * @throws IllegalArgumentException if the quota or the window is out of range, or the
	 * window is not the longest of the calendar unit
	 */
	public Limit {
		if (quota < 0 || quota > MAX_QUOTA) {
			throw new IllegalArgumentException(
					"Invalid quota (%s): must be between 0 and %s.".formatted(quota, MAX_QUOTA));
		}
		requireTime("window", window);
		if (calendar != null && !window.equals(longest(calendar))) {
			throw new IllegalArgumentException(
					"Invalid window (%s): must be %s for %s.".formatted(window, longest(calendar), calendar.name()));
		}
	}

	/**
	 * Creates a limit with windows that are equally long.
	 * @throws IllegalArgumentException if the quota or the window is out of range
	 */
	public Limit(long quota, Duration window) {
		this(quota, window, null);
	}

	/**
	 * Creates a limit with a window for each unit of the calendar.
	 * @param calendar {@link ChronoUnit#WEEKS WEEKS}, {@link ChronoUnit#MONTHS MONTHS} or
	 * {@link ChronoUnit#YEARS YEARS}
	 * @throws IllegalArgumentException if it is another unit, or the quota is out of
	 * range
	 */
	public Limit(long quota, ChronoUnit calendar) {
		this(quota, longest(calendar), calendar);
	}

	private static Duration longest(ChronoUnit calendar) {
		return Duration.ofDays(switch (calendar) {
			case WEEKS -> 7;
			case MONTHS -> 31;
			case YEARS -> 366;
			default -> throw new IllegalArgumentException(
					"Invalid calendar unit (%s): must be WEEKS, MONTHS or YEARS.".formatted(calendar.name()));
		});
	}

	/**
	 * Returns a limit with the same window and another quota.
	 * @throws IllegalArgumentException if the quota is out of range
	 */
	public Limit withQuota(long quota) {
		return new Limit(quota, this.window, this.calendar);
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
	 * the units {@code ms}, {@code s}, {@code m}, {@code h} and {@code d} (24 hours), or
	 * {@code week}, {@code month} or {@code year} of the calendar
	 * @throws IllegalArgumentException if the text is not a limit, or the quota or the
	 * window is out of range
	 */
	public static Limit parse(String text) {
		Matcher matcher = TEXT.matcher(text.strip());
		if (!matcher.matches()) {
			throw new IllegalArgumentException("Invalid limit (" + text
					+ "): must be quota/window, such as 10/s, 100/15m or 100/month; the units are ms, s, m, h, d, week, month and year.");
		}
		try {
			long quota = Long.parseLong(matcher.group(1));
			long number = matcher.group(2).isEmpty() ? 1 : Long.parseLong(matcher.group(2));
			ChronoUnit unit = UNITS.get(UNIT_TEXTS.indexOf(matcher.group(3)));
			if (unit.compareTo(ChronoUnit.DAYS) <= 0) {
				return new Limit(quota, unit.getDuration().multipliedBy(number));
			}
			if (number != 1) {
				throw new IllegalArgumentException("there must be no number before %s.".formatted(matcher.group(3)));
			}
			return new Limit(quota, unit);
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

	/**
	 * Returns the part after the slash in the text form, such as {@code 15m} or
	 * {@code month}.
	 */
	public String windowText() {
		if (this.calendar != null) {
			return UNIT_TEXTS.get(UNITS.indexOf(this.calendar));
		}
		int unit = UNITS.indexOf(ChronoUnit.DAYS);
		while (this.window.toMillis() % UNITS.get(unit).getDuration().toMillis() != 0) {
			unit--;
		}
		long number = this.window.toMillis() / UNITS.get(unit).getDuration().toMillis();
		return ((number == 1) ? "" : number) + UNIT_TEXTS.get(unit);
	}

	/** Returns the text form, which {@link #parse(String)} accepts. */
	@Override
	public String toString() {
		return this.quota + "/" + windowText();
	}

}
