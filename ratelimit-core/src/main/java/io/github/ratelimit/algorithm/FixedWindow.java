package io.github.ratelimit.algorithm;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.algorithm.WindowCounterMeter.Window;
import org.jspecify.annotations.Nullable;

import static java.time.Instant.EPOCH;

/**
 * Counts in windows that are aligned to the epoch: a limit per minute is reset at every
 * full minute. It is the cheapest algorithm, with one counter for each limit. Windows of
 * whole days begin at midnight in a time zone, and so do those of a calendar unit: on the
 * first day of a week, month or year. A day may have from 21 to 27 hours, a month from 28
 * to 31 days. The application sends these times to Redis. If its clock is off by more
 * than two windows, windows of the length of the limit are used, aligned to the epoch.
 * Past windows can be kept and read back as a series; those that begin at midnight are
 * stored for up to 3 hours longer than they are returned, and months as if all had 31
 * days.
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most twice the quota is admitted:
 * all of it at the end of one window and again at the start of the next. If windows
 * differ, this is true of the shortest, such as 23 hours or 28 days; around that one it
 * is three times the quota in a period as long as the longest. Within a window the count
 * is exact, and nothing is denied too early. If the clock is set back, a count lasts for
 * at most one window from then (with windows that begin at midnight, and 3 hours more),
 * and the following windows are not aligned as long as each of them is used. If several
 * windows are then ahead of the clock, only the newest used one is kept.
 * <p>
 * From "Introduction to rate limiting with Redis, part 1" (Josiah Carlson, 2014) and
 * "Rate Limiting: Fixed Window Counters" (2018).
 *
 * @param retain how many windows are kept, including the current one, from 1 to
 * {@link #MAX_RETAIN}
 * @param zone the time zone in which windows of whole days and of calendar units begin at
 * midnight; UTC to align those of days to the epoch
 * @param firstDayOfWeek the day on which windows of a week begin
 */
public record FixedWindow(int retain, ZoneId zone, DayOfWeek firstDayOfWeek) implements Algorithm {

	/** Largest number of windows that can be kept. */
	public static final int MAX_RETAIN = 1000;

	private static final long DAY_MICROS = 86_400_000_000L;

	/** The largest difference of a day in any zone from 24 hours. */
	private static final long UNEVEN_MICROS = 3 * 3_600_000_000L;

	/** How many windows before and after the current one are sent to Redis. */
	private static final int WINDOWS_AROUND = 2;

	public FixedWindow {
		if (retain < 1 || retain > MAX_RETAIN) {
			throw new IllegalArgumentException(
					"Invalid retain (%s): must be between 1 and %s windows.".formatted(retain, MAX_RETAIN));
		}
	}

	/** Creates the algorithm with weeks that begin on Monday. */
	public FixedWindow(int retain, ZoneId zone) {
		this(retain, zone, DayOfWeek.MONDAY);
	}

	/** Creates the algorithm without past windows, with days in UTC. */
	public FixedWindow() {
		this(1, ZoneOffset.UTC);
	}

	@Override
	public String name() {
		return "fixed-window";
	}

	@Override
	public String script() {
		return "window-counter";
	}

	@Override
	public String code() {
		String code = (this.retain == 1) ? "fw" : "fwr" + this.retain;
		code += (this.firstDayOfWeek == DayOfWeek.MONDAY) ? "" : "w" + this.firstDayOfWeek.getValue();
		return isUtc() ? code : code + "z" + Integer.toHexString(this.zone.getId().hashCode());
	}

	@Override
	public void requireSupported(List<Limit> limits) {
		if (!isUtc() && limits.stream().noneMatch(this::beginsAtMidnight)) {
			throw new IllegalArgumentException(
					"Invalid zone (%s): has no effect, because no window of %s has whole days.".formatted(this.zone,
							limits));
		}
		if (this.firstDayOfWeek != DayOfWeek.MONDAY
				&& limits.stream().noneMatch((limit) -> limit.calendar() == ChronoUnit.WEEKS)) {
			throw new IllegalArgumentException(
					"Invalid first day of the week (%s): has no effect, because no limit of %s is for a week."
						.formatted(this.firstDayOfWeek, limits));
		}
	}

	@Override
	public boolean followsCalendar(Limit limit) {
		return limit.calendar() != null || (beginsAtMidnight(limit) && !this.zone.getRules().isFixedOffset());
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("ALIGNED", 1, "PAST", this.retain - 1);
	}

	/** The ends of windows around the current one; then how far back they are kept. */
	@Override
	public long[] arguments(Limit limit, long nowMicros) {
		if (!beginsAtMidnight(limit)) {
			return new long[0];
		}
		LocalDate today = date(nowMicros);
		LongStream ends = IntStream.rangeClosed(-WINDOWS_AROUND, WINDOWS_AROUND)
			.mapToLong((windows) -> end(limit, today, windows));
		return ((this.retain > 1) ? LongStream.concat(ends, LongStream.of(span(limit))) : ends).toArray();
	}

	@Override
	public boolean keepsWindows() {
		return true;
	}

	@Override
	public boolean supportsLeases() {
		return true;
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new WindowCounterMeter(limits, state, nowMicros, this.retain, this::window);
	}

	private Window window(Limit limit, long now) {
		if (!beginsAtMidnight(limit)) {
			long start = now - now % limit.windowMicros();
			return new Window(start, start + limit.windowMicros(), 0, this.retain * limit.windowMicros());
		}
		LocalDate today = date(now);
		int windows = 0;
		long end = end(limit, today, windows);
		while (end <= now) {
			// Some clocks were set back from after midnight to the day before.
			end = end(limit, today, ++windows);
		}
		return new Window(end(limit, today, windows - 1), end, UNEVEN_MICROS, span(limit));
	}

	private boolean beginsAtMidnight(Limit limit) {
		return limit.calendar() != null || (limit.windowMicros() % DAY_MICROS == 0 && !isUtc());
	}

	private boolean isUtc() {
		return this.zone.normalized().equals(ZoneOffset.UTC);
	}

	private LocalDate date(long micros) {
		return LocalDate.ofInstant(EPOCH.plus(micros, ChronoUnit.MICROS), this.zone);
	}

	/** Returns the end of the window some windows after the one with the given day. */
	private long end(Limit limit, LocalDate day, int windows) {
		ChronoUnit calendar = limit.calendar();
		LocalDate end;
		if (calendar == null) {
			long days = limit.window().toDays();
			end = LocalDate.ofEpochDay((Math.floorDiv(day.toEpochDay(), days) + 1 + windows) * days);
		}
		else {
			end = switch (calendar) {
				case WEEKS -> day.with(TemporalAdjusters.previousOrSame(this.firstDayOfWeek));
				case MONTHS -> day.withDayOfMonth(1);
				default -> day.withDayOfYear(1);
			};
			end = end.plus(1 + windows, calendar);
		}
		return ChronoUnit.MICROS.between(EPOCH, end.atStartOfDay(this.zone).toInstant());
	}

	/**
	 * Returns a time before the end of a window, within which exactly those end that are
	 * kept with it. It is half a window less than all of them, because they differ.
	 */
	private long span(Limit limit) {
		ChronoUnit calendar = limit.calendar();
		long mean = (calendar != null) ? calendar.getDuration().toMillis() * 1000 : limit.windowMicros();
		return (2 * this.retain - 1) * (mean / 2);
	}

}
