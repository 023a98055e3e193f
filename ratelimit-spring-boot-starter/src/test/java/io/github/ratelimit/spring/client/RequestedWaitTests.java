package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.HttpHeaders;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long the headers of a response ask to wait.
 */
class RequestedWaitTests {

	private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			1                             | PT1S
			'  30 '                       | PT30S
			3600                          | PT1H
			3601                          | PT1H
			99999999999999999999999999    | PT1H
			Thu, 01 Jan 2026 12:00:30 GMT | PT30S
			Thursday, 01-Jan-26 12:01:00 GMT | PT1M
			Sat, 01 Jan 2056 12:00:30 GMT | PT1H
			1767268830                    | PT30S
			1767268830000                 | PT30S
			1767268829001                 | PT30S
			1767268800                    |
			1700000000                    |
			999999999                     | PT1H
			4102444800                    | PT1H
			""")
	void retryAfterIsSecondsOrDate(String value, @Nullable Duration wait) {
		assertThat(waitOf("Retry-After", value)).isEqualTo(wait);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "0", "-5", "1.5", "soon", "1e9", "١", "Thu, 01 Jan 2026 12:00:00 GMT",
			"Thu, 01 Jan 2026 11:59:59 GMT", "Thu, 99 Jan 2026 12:00:30 GMT" })
	void otherValuesOfRetryAfterAreIgnored(String value) {
		assertThat(waitOf("Retry-After", value)).isNull();
		assertThat(waitOf("Retry-After", value, "RateLimit", "\"a\";r=0;t=7"))
			.isEqualTo(value.endsWith("12:00:00 GMT") || value.endsWith("11:59:59 GMT") || value.equals("0") ? null
					: Duration.ofSeconds(7));
	}

	@ParameterizedTest
	@CsvSource({ "0.001, PT30S", "0.4, PT30S", "0.999, PT30S", "29.5, PT1S", "30.5," })
	void endRoundsUp(double secondsLater, @Nullable Duration wait) {
		Instant now = NOW.plusMillis(Math.round(1000 * secondsLater));
		assertThat(waitOf(now, "Retry-After", "Thu, 01 Jan 2026 12:00:30 GMT")).isEqualTo(wait);
		assertThat(waitOf(now, "Retry-After", "1767268830")).isEqualTo(wait);
		assertThat(waitOf(now, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767268830")).isEqualTo(wait);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			0   | 1767268860       | PT1M
			0   | 1767268860000    | PT1M
			0   | 1767268801       | PT1S
			0   | 1767268800       |
			0   | 1767268799       |
			0   | 4102444800       | PT1H
			0   | 60               | PT1M
			0   | 99999999999999999999 | PT1H
			' 0 ' | ' 1767268860 ' | PT1M
			1   | 1767268860       |
			-1  | 1767268860       |
			''  | 1767268860       |
			nil | 1767268860       |
			0.5 | 1767268860       |
			0   | -60              |
			0   | soon             |
			0   | 1767268860.5     |
			0   | ''               |
			0   |                  |
			    | 1767268860       |
			""")
	void endOfExhaustedQuotaIsSecondsOfTheEpoch(@Nullable String remaining, @Nullable String reset,
			@Nullable Duration wait) {
		HttpHeaders headers = new HttpHeaders();
		headers.set("X-RateLimit-Remaining", remaining);
		headers.set("X-RateLimit-Reset", reset);
		assertThat(RequestedWait.of(headers, NOW).orElse(null)).isEqualTo(wait);
	}

	@Test
	void retryAfterCountsMoreThanEndOfQuota() {
		assertThat(waitOf("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767268860", "Retry-After", "2"))
			.isEqualTo(Duration.ofSeconds(2));
		assertThat(waitOf("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767268860", "Retry-After", "soon"))
			.isEqualTo(Duration.ofMinutes(1));
		assertThat(
				waitOf("X-RateLimit-Remaining", "4", "X-RateLimit-Reset", "1767268860", "RateLimit", "\"a\";r=0;t=7"))
			.isEqualTo(Duration.ofSeconds(7));
		assertThat(
				waitOf("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767268860", "RateLimit", "\"a\";r=0;t=70"))
			.isEqualTo(Duration.ofSeconds(70));
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
	void clockOfTheOtherServiceCounts() {
		assertThat(waitOf("Retry-After", "Thu, 01 Jan 2026 12:00:30 GMT", "Date", "Thu, 01 Jan 2026 12:00:10 GMT"))
			.isEqualTo(Duration.ofSeconds(20));
		assertThat(waitOf("Retry-After", "Thu, 01 Jan 2026 12:00:30 GMT", "Date", "today"))
			.isEqualTo(Duration.ofSeconds(30));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			"day";r=0;t=50                           | PT50S
			"s";r=0;t=1, "m";r=0;t=40, "h";r=7;t=999 | PT40S
			"a";r=0;t=4000                           | PT1H
			"a";t=9;r=0;pk=:YQ==:                    | PT9S
			a;r=0;t=9                                | PT9S
			"a";r=1;t=9                              |
			"a";r=0;t=0                              |
			"a";r=0                                  |
			"a";t=9                                  |
			"a";r=0;t=-9                             |
			"a";r=0;t=9.5                            |
			"a";r=0;t="9"                            |
			limit=10, remaining=0, reset=50          |
			"a;r=0;t=9                               |
			"a";r=0;t=99999999999999999999           |
			""")
	void limitsWithoutQuotaCount(String value, Duration wait) {
		assertThat(waitOf("RateLimit", value)).isEqualTo(wait);
	}

	@Test
	void linesOfRateLimitAreOneList() {
		assertThat(waitOf("RateLimit", "\"a\";r=0;t=3", "RateLimit", "\"b\";r=0;t=5")).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void retryAfterCountsMoreThanRateLimit() {
		assertThat(waitOf("RateLimit", "\"a\";r=0;t=50", "Retry-After", "2")).isEqualTo(Duration.ofSeconds(2));
		assertThat(waitOf()).isNull();
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
