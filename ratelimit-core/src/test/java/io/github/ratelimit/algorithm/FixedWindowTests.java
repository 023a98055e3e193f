package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.StoreTest;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class FixedWindowTests extends StoreTest {

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	@Test
	void windowsAreNoShorterAfterTheClockWasSetBack() {
		Policy policy = policy(new FixedWindow(), "10/s");
		this.clock.set("2026-03-01T12:00:01.001Z");
		this.limiter.tryAcquire(policy, ALICE);
		this.clock.set("2026-03-01T12:00:00.996Z");
		long admitted = 0;
		for (String time : List.of("1.991", "1.996", "2.000", "2.001")) {
			this.clock.set("2026-03-01T12:00:0" + time + "Z");
			while (this.limiter.tryAcquire(policy, ALICE).allowed()) {
				admitted++;
			}
		}
		assertThat(admitted).isLessThanOrEqualTo(20);
	}

	@ParameterizedTest
	@CsvSource({ "2026-03-28T23:30:00+01:00, 30", "2026-03-29T00:30:00+01:00, 1350", "2026-03-29T23:00:00+02:00, 60",
			"2026-10-25T00:30:00+02:00, 1470", "2026-10-25T23:59:00+01:00, 1", "2026-07-01T12:00:00+02:00, 720" })
	void dayOfAZoneEndsAtItsMidnight(String time, long minutes) {
		this.clock.set(OffsetDateTime.parse(time).toInstant().toString());
		Policy policy = policy(new FixedWindow(1, ZoneId.of("Europe/Paris")), "5/d", "5/h");
		assertThat(this.limiter.tryAcquire(policy, ALICE).statuses()).extracting(LimitStatus::resetAfter)
			.containsExactly(Duration.ofMinutes((minutes - 1) % 60 + 1), Duration.ofMinutes(minutes));
	}

	/** Up to the last minute of a day of 25 hours, and no longer than one of 23. */
	@ParameterizedTest
	@CsvSource({ "2026-10-24T10:00:00Z, 2026-10-25T22:59:00Z, 1", "2026-10-24T10:00:00Z, 2026-10-25T23:00:00Z, 0",
			"2026-03-28T10:00:00Z, 2026-03-29T21:59:00Z, 1", "2026-03-28T10:00:00Z, 2026-03-29T22:00:00Z, 0",
			"2026-03-28T10:00:00Z, 2026-03-30T10:00:00Z, 0" })
	void dayIsKeptForALongNextDay(String used, String now, int kept) {
		MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);
		Policy days = policy(new FixedWindow(2, ZoneId.of("Europe/Paris")), "5/d");
		this.clock.set(used);
		memory.tryAcquire(days, ALICE, 3);
		this.clock.set(now);
		memory.tryAcquire(days, ALICE);
		assertThat(memory.series(days, ALICE)).extracting(WindowCount::count)
			.isEqualTo((kept > 0) ? List.of(1L, 3L) : List.of(1L));
	}

	@Test
	void changedZoneStartsAfresh() {
		Limit limit = Limit.parse("5/d");
		this.limiter.tryAcquire(Policy.of("api", new FixedWindow(), limit), ALICE);
		Policy moved = Policy.of("api", new FixedWindow(1, ZoneId.of("America/New_York")), limit);
		assertThat(this.limiter.tryAcquire(moved, ALICE).statuses().get(0).resetAfter())
			.isEqualTo(Duration.between(this.clock.instant(), Instant.parse("2026-03-02T05:00:00Z")));
	}

	@Test
	void emptiedWindowIsAlignedWhenTheClockIsSetBack() {
		Policy policy = policy(new FixedWindow(), "5/m");
		this.limiter.tryAcquire(policy, ALICE);
		this.clock.set("2026-03-01T12:01:10Z");
		this.limiter.tryAcquire(policy, ALICE);
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		this.clock.set("2026-03-01T12:00:55Z");
		LimitStatus minute = this.limiter.tryAcquire(policy, ALICE).statuses().get(0);
		assertThat(minute.remaining()).isEqualTo(4);
		assertThat(minute.resetAfter()).isEqualTo(Duration.ofSeconds(5));
	}

	/** The window that is kept goes on, because in the one after it nothing was used. */
	@ParameterizedTest
	@ValueSource(strings = { "2026-03-01T12:00:55Z", "2026-03-01T12:00:00Z", "2026-03-01T11:59:30Z" })
	void windowBeforeAnEmptiedOneCountsAgain(String back) {
		MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);
		Policy kept = policy(new FixedWindow(2, ZoneOffset.UTC), "5/m");
		memory.tryAcquire(kept, ALICE, 5);
		this.clock.set("2026-03-01T12:01:05Z");
		memory.tryAcquire(kept, ALICE);
		memory.refund(RateLimitRequest.of(kept, ALICE));
		this.clock.set(back);
		assertThat(memory.tryAcquire(kept, ALICE).allowed()).isFalse();
		assertThat(memory.series(kept, ALICE)).extracting(WindowCount::count).containsExactly(5L);
	}

	/** As if it had never been: whatever is asked later, and if the clock is set back. */
	@Property(tries = 4000)
	void requestThatIsRefundedAtOnceChangesNothing(
			@ForAll @Size(min = 1, max = 12) List<@IntRange(max = 90) Integer> seconds,
			@ForAll @IntRange(max = 59) int back, @ForAll @IntRange(min = 2, max = 4) int retain) {
		Policy kept = policy(new FixedWindow(retain, ZoneOffset.UTC), "3/m");
		RateLimiter refunded = new MemoryRateLimiter(this.clock);
		RateLimiter untouched = new MemoryRateLimiter(this.clock);
		RateLimitRequest request = RateLimitRequest.of(kept, ALICE);
		for (int pause : seconds) {
			this.clock.advance(Duration.ofSeconds(pause));
			if (refunded.tryAcquire(request).allowed()) {
				refunded.refund(request);
			}
			if (pause % 2 == 0) {
				assertThat(refunded.tryAcquire(request)).isEqualTo(untouched.tryAcquire(request));
			}
		}
		this.clock.advance(Duration.ofSeconds(-back));
		for (int i = 0; i < 3; i++) {
			assertThat(refunded.tryAcquire(request)).isEqualTo(untouched.tryAcquire(request));
			this.clock.advance(Duration.ofSeconds(back));
		}
	}

}
