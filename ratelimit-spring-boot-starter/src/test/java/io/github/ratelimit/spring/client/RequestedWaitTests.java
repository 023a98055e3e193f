package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.http.HttpHeaders;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long the headers of a response ask to wait, and how long that is remembered.
 */
class RequestedWaitTests {

	private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			Retry-After: 1                                         | PT1S
			Retry-After:   30                                      | PT30S
			Retry-After: 3600                                      | PT1H
			Retry-After: 3601                                      | PT1H
			Retry-After: 99999999999999999999999999                | PT1H
			Retry-After: Thu, 01 Jan 2026 12:00:30 GMT             | PT30S
			Retry-After: Thursday, 01-Jan-26 12:01:00 GMT          | PT1M
			Retry-After: Sat, 01 Jan 2056 12:00:30 GMT             | PT1H
			Retry-After: 1767268830                                | PT30S
			Retry-After: 1767268830000                             | PT30S
			Retry-After: 1767268829001                             | PT30S
			Retry-After: 1767268800                                |
			Retry-After: 1700000000                                |
			Retry-After: 999999999                                 | PT1H
			Retry-After: 4102444800                                | PT1H
			Retry-After: Thu, 01 Jan 2026 12:00:30 GMT & Date: Thu, 01 Jan 2026 12:00:10 GMT | PT20S
			Retry-After: Thu, 01 Jan 2026 12:00:30 GMT & Date: today | PT30S
			X-RateLimit-Remaining: 0 & X-RateLimit-Reset: 1767268860    | PT1M
			X-RateLimit-Remaining: 0 & X-RateLimit-Reset: 60            | PT1M
			X-RateLimit-Remaining:  0 & X-RateLimit-Reset:  1767268860  | PT1M
			X-RateLimit-Remaining: 1 & X-RateLimit-Reset: 1767268860    |
			X-RateLimit-Remaining: -1 & X-RateLimit-Reset: 1767268860   |
			X-RateLimit-Remaining: & X-RateLimit-Reset: 1767268860      |
			X-RateLimit-Remaining: nil & X-RateLimit-Reset: 1767268860  |
			X-RateLimit-Remaining: 0.5 & X-RateLimit-Reset: 1767268860  |
			X-RateLimit-Remaining: 0 & X-RateLimit-Reset: soon          |
			X-RateLimit-Remaining: 0                                    |
			X-RateLimit-Reset: 1767268860                               |
			RateLimit: "day";r=0;t=50                                   | PT50S
			RateLimit: "s";r=0;t=1, "m";r=0;t=40, "h";r=7;t=999         | PT40S
			RateLimit: "a";r=0;t=3 & RateLimit: "b";r=0;t=5             | PT5S
			RateLimit: "a";r=0;t=4000                                   | PT1H
			RateLimit: "a";t=9;r=0;pk=:YQ==:                            | PT9S
			RateLimit: a;r=0;t=9                                        | PT9S
			RateLimit: "a";r=1;t=9                                      |
			RateLimit: "a";r=0;t=0                                      |
			RateLimit: "a";r=0                                          |
			RateLimit: "a";t=9                                          |
			RateLimit: "a";r=0;t=-9                                     |
			RateLimit: "a";r=0;t=9.5                                    |
			RateLimit: "a";r=0;t="9"                                    |
			RateLimit: limit=10, remaining=0, reset=50                  |
			RateLimit: "a;r=0;t=9                                       |
			RateLimit: "a";r=0;t=99999999999999999999                   |
			RateLimit: "a";r=0;t=50 & Retry-After: 2                    | PT2S
			X-RateLimit-Remaining: 0 & X-RateLimit-Reset: 1767268860 & Retry-After: 2    | PT2S
			X-RateLimit-Remaining: 0 & X-RateLimit-Reset: 1767268860 & Retry-After: soon | PT1M
			X-RateLimit-Remaining: 4 & X-RateLimit-Reset: 1767268860 & RateLimit: "a";r=0;t=7 | PT7S
			X-RateLimit-Remaining: 0 & X-RateLimit-Reset: 1767268860 & RateLimit: "a";r=0;t=70 | PT1M10S
			Date: today                                                 |
			Retry-After: & RateLimit: "a";r=0;t=7                       | PT7S
			Retry-After: 0 & RateLimit: "a";r=0;t=7                     |
			Retry-After: -5 & RateLimit: "a";r=0;t=7                    | PT7S
			Retry-After: 1.5 & RateLimit: "a";r=0;t=7                   | PT7S
			Retry-After: 1e9 & RateLimit: "a";r=0;t=7                   | PT7S
			Retry-After: ١ & RateLimit: "a";r=0;t=7                     | PT7S
			Retry-After: Thu, 01 Jan 2026 12:00:00 GMT & RateLimit: "a";r=0;t=7 |
			Retry-After: Thu, 01 Jan 2026 11:59:59 GMT & RateLimit: "a";r=0;t=7 |
			Retry-After: Thu, 99 Jan 2026 12:00:30 GMT & RateLimit: "a";r=0;t=7 | PT7S
			""")
	void waitIsWhatHeadersAskFor(String headers, @Nullable Duration wait) {
		assertThat(waitOf(Stream.of(headers.split(" & "))
			.flatMap((header) -> Stream.of(header.split(": ?", 2)))
			.toArray(String[]::new))).isEqualTo(wait);
	}

	@ParameterizedTest
	@CsvSource({ "0.001, PT30S", "0.4, PT30S", "0.999, PT30S", "29.5, PT1S", "30.5," })
	void endRoundsUp(double secondsLater, @Nullable Duration wait) {
		Instant now = NOW.plusMillis(Math.round(1000 * secondsLater));
		assertThat(waitOf(now, "Retry-After", "Thu, 01 Jan 2026 12:00:30 GMT")).isEqualTo(wait);
		assertThat(waitOf(now, "Retry-After", "1767268830")).isEqualTo(wait);
		assertThat(waitOf(now, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767268830")).isEqualTo(wait);
	}

	@Test
	void otherValuesNeverFail() {
		Random random = new Random(1);
		for (int i = 0; i < 20_000; i++) {
			String value = value(random);
			assertThat(waitOf("Retry-After", value(random), "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", value,
					"RateLimit", value, "RateLimit", value(random), "Date", value(random)))
				.satisfiesAnyOf((none) -> assertThat(none).isNull(),
						(wait) -> assertThat(wait).isBetween(Duration.ofSeconds(1), Duration.ofHours(1)));
		}
	}

	private static String value(Random random) {
		List<String> parts = List.of("0", "1", "17672688", "-", ".", "\"a\"", ";r=0", ";t=", "(", ")", ":", "?1", "@",
				"%", " ", ",", "Thu, 01 Jan 2026", "GMT", "\u0660", "\ud83d", "\n", "");
		return random.ints(random.nextInt(8), 0, parts.size()).mapToObj(parts::get).collect(Collectors.joining());
	}

	@Test
	void longerWaitStaysUntilItsEnd() {
		long[] time = { Long.MAX_VALUE - 5 };
		MemoryRateLimiter store = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));
		RequestedWaits waits = new RequestedWaits(store, true, () -> time[0]);
		waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(30), "first");
		waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(5), "shorter");
		Policy policy = Policy.of("all", new FixedWindow(), Limit.parse("1/m"));
		assertThat(store.peek(RateLimitRequest.of(policy, Identifier.GLOBAL)).blockedFor())
			.isEqualTo(Duration.ofSeconds(30));
		assertThat(waits.remaining("all", Identifier.GLOBAL)).isEqualTo(Duration.ofSeconds(30));
		assertThat(waits.remaining("other", Identifier.GLOBAL)).isNull();
		time[0] += Duration.ofSeconds(30).toNanos() - 1;
		assertThat(waits.remaining("all", Identifier.GLOBAL)).isEqualTo(Duration.ofNanos(1));
		time[0]++;
		assertThat(waits.remaining("all", Identifier.GLOBAL)).isNull();
	}

	private static @Nullable Duration waitOf(String... headers) {
		return waitOf(NOW, headers);
	}

	private static @Nullable Duration waitOf(Instant now, String... headers) {
		HttpHeaders all = new HttpHeaders();
		for (int i = 0; i < headers.length; i += 2) {
			all.add(headers[i], headers[i + 1]);
		}
		return RequestedWait.of(all, now).orElse(null);
	}

}
