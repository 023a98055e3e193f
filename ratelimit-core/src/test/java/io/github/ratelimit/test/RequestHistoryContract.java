package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

public abstract class RequestHistoryContract extends RateLimiterContract {

	private static final Policy LOG = policy(new SlidingLog(true), "5/m", "9/h");

	private static final Policy SERIES = policy("series", new FixedWindow(24, ZoneOffset.UTC), "10/h", "50/d");

	private RequestHistory history() {
		return (RequestHistory) this.limiter;
	}

	private List<String> metadata() {
		return history().entries(LOG, ALICE).stream().map(LogEntry::metadata).toList();
	}

	private void acquire(Policy policy, long cost, String metadata) {
		assertThat(this.limiter.tryAcquire(request(policy, cost).withMetadata(metadata)).allowed()).isTrue();
	}

	@Test
	void entriesAreReadNewestFirstWithTheirMetadata() {
		Instant first = this.clock.instant();
		acquire(LOG, 1, "request-1");
		acquire(LOG, 2, "");
		this.clock.advance(Duration.ofSeconds(7));
		acquire(LOG, 1, "\uD83D\uDE00 ünï\u0000\n");
		assertThat(history().entries(LOG, ALICE)).containsExactly(
				new LogEntry(first.plusSeconds(7), 1, "\uD83D\uDE00 ünï\u0000\n"), new LogEntry(first, 2, ""),
				new LogEntry(first, 1, "request-1"));
		assertThat(history().entries(LOG, Identifier.user("bob"))).isEmpty();
	}

	@Test
	void entriesLeaveWithTheLongestWindow() {
		acquire(LOG, 1, "old");
		this.clock.advance(Duration.ofMinutes(59));
		acquire(LOG, 1, "new");
		assertThat(metadata()).containsExactly("new", "old");
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(metadata()).containsExactly("new");
		acquire(LOG, 1, "newest");
		assertThat(metadata()).containsExactly("newest", "new");
		this.clock.advance(Duration.ofHours(1));
		assertThat(history().entries(LOG, ALICE)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void pagesFollowEachOtherFromTheNewestToTheOldest(boolean keepMetadata) {
		Policy policy = policy("pages", new SlidingLog(keepMetadata), "100/m");
		Instant first = this.clock.instant();
		for (int cost = 1; cost <= 5; cost++) {
			acquire(policy, cost, "");
			this.clock.advance(Duration.ofNanos(1000));
		}
		assertThat(costs(policy, 2, null)).containsExactly(5L, 4L);
		assertThat(costs(policy, 2, first.plusNanos(3000))).containsExactly(3L, 2L);
		assertThat(costs(policy, 2, first.plusNanos(1000))).containsExactly(1L);
		assertThat(costs(policy, 2, first)).isEmpty();
		assertThat(costs(policy, 1, first.plusSeconds(30))).containsExactly(5L);
		assertThat(costs(policy, 5, null)).containsExactly(5L, 4L, 3L, 2L, 1L);
		assertThat(costs(policy, 1000, first.plusNanos(4000))).containsExactly(4L, 3L, 2L, 1L);
	}

	/** Otherwise the next page, which begins before that time, would lack the rest. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void requestsOfOneMicrosecondStayOnAPage(boolean keepMetadata) {
		Policy policy = policy("pages", new SlidingLog(keepMetadata), "100/m");
		Instant first = this.clock.instant();
		for (int cost = 1; cost <= 5; cost++) {
			acquire(policy, cost, "");
			this.clock.advance(Duration.ofNanos((cost == 1 || cost == 4) ? 1000 : 0));
		}
		assertThat(costs(policy, 2, null)).containsExactly(5L);
		assertThat(costs(policy, 3, null)).containsExactly(5L);
		assertThat(costs(policy, 4, null)).containsExactly(5L, 4L, 3L, 2L);
		assertThat(costs(policy, 3, first.plusNanos(2000))).containsExactly(4L, 3L, 2L);
		assertThat(costs(policy, 4, first.plusNanos(2000))).containsExactly(4L, 3L, 2L, 1L);
		// They do not fit on any page.
		assertThat(costs(policy, 2, first.plusNanos(2000))).containsExactly(4L, 3L);
		assertThat(costs(policy, 2, first.plusNanos(1000))).containsExactly(1L);
	}

	private List<Long> costs(Policy policy, int most, @Nullable Instant before) {
		return history().entries(policy, ALICE, most, before).stream().map(LogEntry::cost).toList();
	}

	@ParameterizedTest
	@ValueSource(ints = { Integer.MIN_VALUE, -1, 0, 1001, Integer.MAX_VALUE })
	void pageOfAnImpossibleSizeIsRefused(int most) {
		acquire(LOG, 1, "");
		assertThatIllegalArgumentException().isThrownBy(() -> history().entries(LOG, ALICE, most, null))
			.withMessage("Invalid number of requests (%d): must be from 1 to 1000.".formatted(most));
	}

	@Test
	void refundedRequestsAndChargesAreForgottenFromTheNewest() {
		acquire(LOG, 2, "one");
		this.limiter.charge(request(LOG, 3).withMetadata("two"));
		this.limiter.refund(request(LOG, 1));
		assertThat(history().entries(LOG, ALICE)).extracting(LogEntry::cost, LogEntry::metadata)
			.containsExactly(tuple(2L, "two"), tuple(2L, "one"));
		this.limiter.refund(request(LOG, 2));
		assertThat(metadata()).containsExactly("one");
		acquire(LOG, 1, "three");
		assertThat(metadata()).containsExactly("three", "one");
	}

	@Test
	void deniedRequestsThatCountAreRememberedUpToTheQuota() {
		Policy policy = policy(new SlidingLog(true), "3/m").withCountDenied(true);
		for (int i = 0; i < 7; i++) {
			this.limiter.tryAcquire(RateLimitRequest.of(policy, ALICE).withMetadata("r" + i));
		}
		assertThat(history().entries(policy, ALICE)).extracting(LogEntry::metadata).containsExactly("r6", "r5", "r4");
	}

	@Test
	void metadataIsKeptOnlyWhereThePolicyKeepsIt() {
		Policy plain = policy(new SlidingLog(), "5/m");
		acquire(plain, 1, "request-1");
		assertThat(history().entries(plain, ALICE)).containsExactly(new LogEntry(this.clock.instant(), 1, ""));
	}

	@Test
	void unpairedSurrogateInMetadataIsReplaced() {
		acquire(LOG, 1, "\uD83D");
		acquire(LOG, 1, "a\uDE00\uD83D\uD83D\uDE00\uDE00z");
		acquire(LOG, 1, "\uD83Dz");
		assertThat(metadata()).containsExactly("\uFFFDz", "a\uFFFD\uFFFD\uD83D\uDE00\uFFFDz", "\uFFFD");
	}

	@Test
	void longestMetadataIsKeptAndDecidesNothing() {
		for (String metadata : List.of("x".repeat(256), "\u0000".repeat(256), "\u00fc".repeat(256),
				"\u2603".repeat(256), "\uD83D\uDE00".repeat(128))) {
			acquire(LOG, 1, metadata);
			assertThat(metadata().get(0)).isEqualTo(metadata);
		}
		assertThat(metadata()).hasSize(5).allSatisfy((metadata) -> assertThat(metadata).hasSize(256));
		assertThat(this.limiter.tryAcquire(LOG, ALICE).retryAfter()).contains(Duration.ofMinutes(1));
	}

	@Test
	void seriesHasTheCountsOfTheKeptWindows() {
		this.clock.set("2026-03-01T00:30:00Z");
		for (int hour = 0; hour < 30; hour++) {
			if (hour % 10 != 5) {
				acquire(SERIES, 1 + hour % 3, "");
			}
			this.clock.advance(Duration.ofHours(1));
		}
		List<WindowCount> series = history().series(SERIES, ALICE);
		assertThat(series).filteredOn((point) -> point.limit().equals(Limit.parse("10/h")))
			.hasSize(21)
			.startsWith(count("10/h", "2026-03-02T06:00:00Z", 3), count("10/h", "2026-03-02T05:00:00Z", 2),
					count("10/h", "2026-03-02T04:00:00Z", 1), count("10/h", "2026-03-02T03:00:00Z", 3))
			.endsWith(count("10/h", "2026-03-01T08:00:00Z", 2));
		assertThat(series).filteredOn((point) -> point.limit().equals(Limit.parse("50/d")))
			.containsExactly(count("50/d", "2026-03-03T00:00:00Z", 10), count("50/d", "2026-03-02T00:00:00Z", 44));
	}

	private static WindowCount count(String limit, String end, long count) {
		return new WindowCount(Limit.parse(limit), Instant.parse(end), count);
	}

	/** They would be kept, and shown, until the clock has caught up. */
	@Test
	void futureWindowsAreForgottenWhenTheClockIsSetBack() {
		acquire(SERIES, 1, "");
		this.clock.advance(Duration.ofDays(365));
		for (int hour = 0; hour < 3; hour++) {
			acquire(SERIES, 3, "");
			this.clock.advance(Duration.ofHours(1));
		}
		this.clock.set("2026-03-01T13:30:00Z");
		acquire(SERIES, 1, "");
		// Those before the clock was ahead were too old then.
		assertThat(history().series(SERIES, ALICE)).containsExactly(count("10/h", "2026-03-01T14:30:00Z", 4),
				count("50/d", "2026-03-02T13:30:00Z", 10));
	}

	/** By less than a window: the window before ends a moment after the clock's time. */
	@Test
	void pastWindowsAreKeptWhenTheClockIsSetBack() {
		Policy policy = policy("series", new FixedWindow(3, ZoneOffset.UTC), "10/h");
		acquire(policy, 1, "");
		this.clock.set("2026-03-01T13:00:00.001Z");
		acquire(policy, 2, "");
		this.clock.set("2026-03-01T12:59:59.999Z");
		acquire(policy, 3, "");
		assertThat(history().series(policy, ALICE)).extracting(WindowCount::count).containsExactly(5L, 1L);
	}

	/** Though nothing was used in February, and there was room for December. */
	@Test
	void monthsAreReturnedWhileTheyAreRetained() {
		Policy policy = policy("series", new FixedWindow(3, ZoneOffset.UTC), "10/month");
		for (String day : List.of("2026-12-31", "2027-01-01", "2027-03-31")) {
			this.clock.set(day + "T12:00:00Z");
			acquire(policy, 2, "");
		}
		assertThat(history().series(policy, ALICE)).containsExactly(count("10/month", "2027-04-01T00:00:00Z", 2),
				count("10/month", "2027-02-01T00:00:00Z", 2));
	}

	@Test
	void firstRequestWindowIsASeriesOfOne() {
		Policy policy = policy(new FirstRequestWindow(), "5/m");
		acquire(policy, 2, "");
		assertThat(history().series(policy, ALICE))
			.containsExactly(new WindowCount(Limit.parse("5/m"), this.clock.instant().plus(Duration.ofMinutes(1)), 2));
	}

	@Test
	void whatTheAlgorithmDoesNotRememberIsRefused() {
		Policy policy = policy(new SlidingWindow(), "5/m");
		assertThatIllegalArgumentException().isThrownBy(() -> history().entries(policy, ALICE))
			.withMessage("Invalid policy (api): sliding-window does not keep requests.");
		assertThatIllegalArgumentException().isThrownBy(() -> history().series(policy, ALICE))
			.withMessage("Invalid policy (api): sliding-window does not keep windows.");
	}

}
