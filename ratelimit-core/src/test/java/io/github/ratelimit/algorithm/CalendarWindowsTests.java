package io.github.ratelimit.algorithm;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.time.temporal.WeekFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.algorithm.Traffic.Request;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Windows of weeks, months and years beside what the calendar says of random times from
 * 1980 to 2250.
 */
class CalendarWindowsTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int QUOTA = 3;

	private static final Duration MICRO = Duration.of(1, ChronoUnit.MICROS);

	private final ManualClock clock = new ManualClock("1980-01-01T00:00:00Z");

	private final MemoryRateLimiter limiter = new MemoryRateLimiter(this.clock);

	@ParameterizedTest
	@ValueSource(strings = { "UTC", "Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Asia/Beirut",
			"Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati", "Africa/Cairo",
			"Antarctica/Troll", "America/Nuuk", "Atlantic/Azores", "+03:30" })
	void quotaIsOfTheCalendarAndWaitsAreExact(ZoneId zone) {
		Random random = new Random(zone.hashCode());
		for (ChronoUnit unit : List.of(ChronoUnit.WEEKS, ChronoUnit.MONTHS, ChronoUnit.YEARS)) {
			for (int i = 0; i < 60; i++) {
				DayOfWeek first = (unit == ChronoUnit.WEEKS) ? DayOfWeek.of(1 + i % 7) : DayOfWeek.MONDAY;
				Policy policy = Policy.of("api" + i, new FixedWindow(1, zone, first), new Limit(QUOTA, unit));
				this.clock.set(Instant.ofEpochSecond(random.nextLong(315_532_800L, 8_200_000_000L)).toString());
				Map<Object, Integer> used = new HashMap<>();
				for (int k = 0; k < 20; k++) {
					Object present = window(unit, first, zone, Duration.ZERO);
					Decision decision = this.limiter.tryAcquire(policy, ALICE);
					assertThat(decision.allowed()).as("%s in %s", this.clock.instant(), policy)
						.isEqualTo(used.merge(present, 1, Integer::sum) <= QUOTA);
					Duration reset = decision.statuses().get(0).resetAfter();
					assertThat(window(unit, first, zone, reset.minus(MICRO))).isEqualTo(present);
					assertThat(window(unit, first, zone, reset)).isNotEqualTo(present);
					this.clock.advance(random.nextBoolean() ? reset.dividedBy(1 + random.nextInt(9)) : Duration.ZERO);
				}
			}
		}
	}

	/** What is the same for all times of a window, and for no others. */
	private Object window(ChronoUnit unit, DayOfWeek first, ZoneId zone, Duration later) {
		LocalDate date = LocalDate.ofInstant(this.clock.instant().plus(later), zone);
		return switch (unit) {
			case MONTHS -> YearMonth.from(date);
			case YEARS -> date.getYear();
			default -> {
				WeekFields weeks = WeekFields.of(first, 4);
				yield List.of(date.get(weeks.weekBasedYear()), date.get(weeks.weekOfWeekBasedYear()));
			}
		};
	}

	/** The bound: twice in the shortest, three times in the longest. */
	@ParameterizedTest
	@CsvSource({ "WEEKS, 167", "MONTHS, 672", "YEARS, 8760" })
	void noTrafficIsAdmittedBeyondTheBound(ChronoUnit unit, long shortestHours) {
		Limit limit = new Limit(QUOTA, unit);
		Policy policy = Policy.of("api", new FixedWindow(1, ZoneId.of("Europe/Berlin")), limit);
		Random random = new Random(unit.ordinal());
		this.clock.set("2027-01-01T00:00:00Z");
		List<Request> admitted = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			if (decision.allowed()) {
				admitted.add(new Request(Traffic.micros(this.clock), 1, true));
			}
			this.clock.advance(switch (random.nextInt(8)) {
				case 0 -> decision.statuses().get(0).resetAfter().minus(MICRO);
				case 1 -> MICRO;
				case 2 -> decision.retryAfter().orElse(Duration.ZERO);
				default -> Duration.ZERO;
			});
		}
		assertThat(Traffic.mostInAnyStretch(admitted, Duration.ofHours(shortestHours).toNanos() / 1000))
			.isBetween(QUOTA + 1L, 2L * QUOTA);
		assertThat(Traffic.mostInAnyStretch(admitted, limit.windowMicros())).isBetween(2L * QUOTA - 1, 3L * QUOTA);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 12, 40 })
	void asManyMonthsAndYearsAreReturnedAsAreRetained(int retain) {
		Random random = new Random(retain);
		for (ChronoUnit unit : List.of(ChronoUnit.MONTHS, ChronoUnit.YEARS)) {
			Policy policy = Policy.of("api", new FixedWindow(retain, ZoneId.of("Europe/Berlin")), new Limit(9, unit));
			LocalDate start = LocalDate.of(2000, 1, 1);
			List<LocalDate> ends = new ArrayList<>();
			for (int i = 0; i < 250; i++) {
				int now = i;
				if (random.nextInt(3) > 0) {
					this.clock.set(start.plus(now, unit).atTime(12, 0) + ":00Z");
					this.limiter.tryAcquire(policy, ALICE);
					ends.add(0, start.plus(now + 1, unit));
					ends.removeIf((end) -> !end.isAfter(start.plus(now + 1 - retain, unit)));
					assertThat(this.limiter.series(policy, ALICE)).extracting(WindowCount::end)
						.isEqualTo(ends.stream()
							.map((end) -> end.atStartOfDay(ZoneId.of("Europe/Berlin")).toInstant())
							.toList());
				}
			}
		}
	}

}
