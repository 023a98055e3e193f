package io.github.ratelimit.algorithm;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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
 * whole days begin at midnight in a time zone; a day may have from 21 to 27 hours. The
 * application sends the time of midnight to Redis. If its clock is off by more than two
 * windows, UTC is used. Past windows can be kept and read back as a series; those of
 * whole days are stored for up to 3 hours longer than they are returned.
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most twice the quota is admitted:
 * all of it at the end of one window and again at the start of the next. Around a day of
 * 23 hours it is three times the quota in 24 hours. Within a window the count is exact,
 * and nothing is denied too early. If the clock is set back, a count lasts for at most
 * one window from then, and the following windows are not aligned as long as each of them
 * is used. If several windows are then ahead of the clock, only the newest used one is
 * kept.
 * <p>
 * From "Introduction to rate limiting with Redis, part 1" (Josiah Carlson, 2014) and
 * "Rate Limiting: Fixed Window Counters" (2018).
 *
 * @param retain how many windows are kept, including the current one, from 1 to
 * {@link #MAX_RETAIN}
 * @param zone the time zone in which windows of whole days begin at midnight; UTC to
 * align them to the epoch
 */
public record FixedWindow(int retain, ZoneId zone) implements Algorithm {

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
		return isUtc() ? code : code + "z" + Integer.toHexString(this.zone.getId().hashCode());
	}

	@Override
	public void requireSupported(List<Limit> limits) {
		if (!isUtc() && limits.stream().noneMatch(this::isCalendar)) {
			throw new IllegalArgumentException(
					"Invalid zone (%s): has no effect, because no window of %s has whole days.".formatted(this.zone,
							limits));
		}
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("ALIGNED", 1, "PAST", this.retain - 1);
	}

	@Override
	public long[] arguments(Limit limit, long nowMicros) {
		if (!isCalendar(limit)) {
			return new long[0];
		}
		return IntStream.rangeClosed(-WINDOWS_AROUND, WINDOWS_AROUND)
			.mapToLong((windows) -> calendarEnd(limit, nowMicros, windows))
			.toArray();
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
		if (isCalendar(limit)) {
			return new Window(calendarEnd(limit, now, -1), calendarEnd(limit, now, 0), UNEVEN_MICROS);
		}
		long start = now - now % limit.windowMicros();
		return new Window(start, start + limit.windowMicros(), 0);
	}

	private boolean isCalendar(Limit limit) {
		return limit.windowMicros() % DAY_MICROS == 0 && !isUtc();
	}

	private boolean isUtc() {
		return this.zone.normalized().equals(ZoneOffset.UTC);
	}

	/** Returns the end of the window some windows after the one at the given time. */
	private long calendarEnd(Limit limit, long micros, int windows) {
		long days = limit.window().toDays();
		LocalDate today = LocalDate.ofInstant(EPOCH.plus(micros, ChronoUnit.MICROS), this.zone);
		long end = (Math.floorDiv(today.toEpochDay(), days) + 1 + windows) * days;
		Instant midnight = LocalDate.ofEpochDay(end).atStartOfDay(this.zone).toInstant();
		return ChronoUnit.MICROS.between(EPOCH, midnight);
	}

}
