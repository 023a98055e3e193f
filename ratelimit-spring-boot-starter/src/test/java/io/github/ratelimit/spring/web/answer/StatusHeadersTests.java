package io.github.ratelimit.spring.web.answer;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.ConfigurationHints;
import io.github.ratelimit.spring.decide.Decided;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StatusHeaders} and {@link RequestStatuses}. A status is written as its
 * policy, limit, remaining quota, reset and wait in seconds, and perhaps its user.
 */
class StatusHeadersTests {

	private static final Instant NOW = Instant.parse("2026-01-01T00:00:00.5Z");

	private final RequestStatuses statuses = new RequestStatuses();

	/** Editors show them. */
	@Test
	void hintsNameAllStyles() throws Exception {
		assertThat(ConfigurationHints.of("ratelimit.headers.styles")).containsExactlyInAnyOrderElementsOf(
				Stream.concat(Stream.of(HeaderStyle.values()).map(HeaderStyle::toString), Stream.of("none")).toList());
	}

	/** Of the names of GitHub, the reset is written in seconds from midnight. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					api 10/m 7 9 0 a; api 10/m 4 8 0 b      | "api";q=10;w=60 | "api";r=4;t=8 | 10 4 9
					api 10/m 1 9 0; api 10/m 5 3 0          | "api";q=10;w=60 | "api";r=5;t=3 | 10 5 4
					api 9007199254740991/d 9007199254740990 86400 0 | "api";q=999999999999999;w=86400 | "api";r=999999999999999;t=86400 | 9007199254740991 9007199254740990 86401
					many 100/m 50 60 0; few 10/m 9 10 0     | "many";q=100;w=60, "few";q=10;w=60 | "many";r=50;t=60, "few";r=9;t=10 | 10 9 11
					few 2/m 0 30 0; violated 10/m 3 10 5    | "few";q=2;w=60, "violated";q=10;w=60 | "few";r=0;t=30, "violated";r=3;t=10 | 10 3 11
					soon 10/m 5 10 0; late 10/m 5 30 0      | "soon";q=10;w=60, "late";q=10;w=60 | "soon";r=5;t=10, "late";r=5;t=30 | 10 5 31
					api 10/month 7 9 0; utc 5/week 4 8 0    | "api";q=10, "utc";q=5 | "api";r=7;t=9, "utc";r=4;t=8 | 5 4 9
					berlin 10/d 7 9 0; east 10/d 8 9 0      | "berlin";q=10, "east";q=10;w=86400 | "berlin";r=7;t=9, "east";r=8;t=9 | 10 7 10
					calls 5/m 0 60 60                       | "calls";q=5;qu="concurrent-requests" | "calls";r=0 | 5 0 -
					calls 5/m 0 60 60; api 10/m 7 30 0      | "calls";q=5;qu="concurrent-requests", "api";q=10;w=60 | "calls";r=0, "api";r=7;t=30 | 10 7 31
					""")
	void headersTellOfAllLimitsOrTheClosest(String decisions, String policies, String limits, String closest) {
		for (String decision : decisions.split("; ")) {
			add(status(decision));
		}
		MockHttpServletResponse response = write(EnumSet.allOf(HeaderStyle.class));
		String reset = response.getHeader("X-RateLimit-Reset");
		assertThat(response.getHeader("RateLimit-Policy")).isEqualTo(policies);
		assertThat(response.getHeader("RateLimit")).isEqualTo(limits);
		for (String name : List.of("X-Rate-Limit-", "X-RateLimit-")) {
			assertThat(closest)
				.startsWith(response.getHeader(name + "Limit") + " " + response.getHeader(name + "Remaining") + " ");
		}
		assertThat(closest).endsWith((reset != null) ? " " + (Long.parseLong(reset) - NOW.getEpochSecond()) : " -");
	}

	@ParameterizedTest
	@CsvSource({ "2026-01-01T00:00:00Z, PT10S, 2026-01-01T00:00:10Z",
			"2026-01-01T00:00:00.000000001Z, PT10S, 2026-01-01T00:00:11Z",
			"2026-01-01T00:00:00.5Z, PT0.5S, 2026-01-01T00:00:01Z",
			"2026-01-01T00:00:00.999999Z, PT0.000002S, 2026-01-01T00:00:02Z" })
	void resetIsTimeOfDayInWholeSecondsRoundedUp(String now, Duration resetAfter, Instant expected) {
		MockHttpServletResponse response = new MockHttpServletResponse();
		LimitStatus status = status("api 10/m 1 1 0");
		new StatusHeaders(Set.of(HeaderStyle.X_RATELIMIT), () -> Instant.parse(now), Map.of())
			.write(List.of(new LimitStatus(status.policy(), status.identifier(), status.limit(), 1, resetAfter,
					Duration.ZERO, false)), response);
		assertThat(response.getHeader("X-RateLimit-Reset")).isEqualTo("" + expected.getEpochSecond());
	}

	@ParameterizedTest
	@EnumSource
	void namesAreThoseOfHeadersThatAreWritten(HeaderStyle style) {
		add(status("api 10/m 1 9 0"));
		assertThat(write(Set.of(style)).getHeaderNames()).isNotEmpty()
			.containsExactlyInAnyOrderElementsOf(headers(Set.of(style)).names());
	}

	@Test
	void draftHeadersAreLeftOutWhenTooLong() {
		StatusHeaders headers = headers(EnumSet.of(HeaderStyle.DRAFT, HeaderStyle.X_RATE_LIMIT));
		MockHttpServletResponse response = new MockHttpServletResponse();
		add(status("few 1/m 0 60 0"));
		this.statuses.write(headers, response);
		assertThat(response.getHeaderNames()).contains("RateLimit", "RateLimit-Policy");
		add(IntStream.range(0, 30)
			.mapToObj((i) -> status("long-name-".repeat(12) + i + " 1/m 0 60 60"))
			.toArray(LimitStatus[]::new));
		this.statuses.write(headers, response);
		assertThat(response.getHeaderNames()).containsExactlyInAnyOrder("X-Rate-Limit-Limit", "X-Rate-Limit-Remaining");
	}

	@Test
	void nothingIsWrittenWhenResponseIsCommitted() {
		add(status("api 10/m 7 30 0"));
		MockHttpServletResponse response = new MockHttpServletResponse();
		response.setCommitted(true);
		this.statuses.write(headers(Set.of(HeaderStyle.DRAFT)), response);
		assertThat(response.getHeaderNames()).isEmpty();
	}

	private void add(LimitStatus... limits) {
		this.statuses.add(new Decided(new Decision(true, List.of(limits))));
	}

	private static LimitStatus status(String text) {
		String[] parts = text.split(" ");
		Limit limit = Limit.parse(parts[1]);
		Duration wait = Duration.ofSeconds(Long.parseLong(parts[4]));
		Policy policy = Policy.of(parts[0], switch (parts[0]) {
			case "calls" -> new ConcurrentCalls();
			case "berlin" -> new FixedWindow(1, ZoneId.of("Europe/Berlin"));
			case "east" -> new FixedWindow(1, ZoneOffset.ofHours(3));
			default -> new FixedWindow();
		}, limit);
		return new LimitStatus(policy, (parts.length > 5) ? Identifier.user(parts[5]) : Identifier.GLOBAL, limit,
				Long.parseLong(parts[2]), Duration.ofSeconds(Long.parseLong(parts[3])), wait, !wait.isZero());
	}

	private MockHttpServletResponse write(Set<HeaderStyle> styles) {
		MockHttpServletResponse response = new MockHttpServletResponse();
		this.statuses.write(headers(styles), response);
		return response;
	}

	private static StatusHeaders headers(Set<HeaderStyle> styles) {
		return new StatusHeaders(styles, () -> NOW, Map.of());
	}

}
