package io.github.ratelimit.spring.web.answer;

import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.decide.Decided;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StatusHeaders} and {@link RequestStatuses}.
 */
class StatusHeadersTests {

	private static final Duration ALLOWED = Duration.ZERO;

	private final RequestStatuses statuses = new RequestStatuses();

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00.5Z");

	@Test
	void violatedLimitIsClosestEvenWhenOtherHasLess() {
		add(false, status("few", "2/m", 0, "30s", ALLOWED),
				status("violated", "10/m", 3, "10s", Duration.ofSeconds(5)));
		assertThat(RequestStatuses.closest(known()).policy().name()).isEqualTo("violated");
	}

	@Test
	void limitWithLessIsClosest() {
		add(true, status("many", "100/m", 50, "60s", ALLOWED), status("few", "10/m", 9, "1s", ALLOWED));
		assertThat(RequestStatuses.closest(known()).policy().name()).isEqualTo("few");
	}

	@Test
	void laterResetIsClosestWhenRestIsTheSame() {
		add(true, status("soon", "10/m", 5, "10s", ALLOWED), status("late", "10/m", 5, "30s", ALLOWED));
		assertThat(RequestStatuses.closest(known()).policy().name()).isEqualTo("late");
	}

	@Test
	void limitStandsOnceForIdentifierThatIsClosest() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/m"));
		this.statuses.add(new Decided(new Decision(true,
				List.of(new LimitStatus(policy, Identifier.ip("a"), Limit.parse("10/m"), 7, Duration.ofSeconds(9),
						ALLOWED, false),
						new LimitStatus(policy, Identifier.user("b"), Limit.parse("10/m"), 4, Duration.ofSeconds(8),
								ALLOWED, false)))));
		assertThat(write(Set.of(HeaderStyle.DRAFT)).getHeader("RateLimit")).isEqualTo("\"api\";r=4;t=8");
	}

	@Test
	void laterDecisionReplacesEarlierOfSamePolicy() {
		add(true, status("api", "10/m", 1, "9s", ALLOWED));
		add(true, status("api", "10/m", 5, "3s", ALLOWED));
		assertThat(write(Set.of(HeaderStyle.DRAFT)).getHeader("RateLimit")).isEqualTo("\"api\";r=5;t=3");
	}

	@Test
	void numbersAreClampedToFifteenDigits() {
		add(true, status("api", "9007199254740991/d", 9_007_199_254_740_990L, "1d", ALLOWED));
		MockHttpServletResponse response = write(EnumSet.allOf(HeaderStyle.class));
		assertThat(response.getHeader("RateLimit-Policy")).isEqualTo("\"api\";q=999999999999999;w=86400");
		assertThat(response.getHeader("RateLimit")).isEqualTo("\"api\";r=999999999999999;t=86400");
		assertThat(response.getHeader("X-Rate-Limit-Remaining")).isEqualTo("9007199254740990");
	}

	@Test
	void namesOfGitHubHaveLimitThatIsClosest() {
		add(true, status("many", "100/m", 50, "60s", ALLOWED), status("few", "10/m", 9, "10s", ALLOWED));
		MockHttpServletResponse response = write(Set.of(HeaderStyle.X_RATELIMIT));
		assertThat(response.getHeaderNames()).containsExactlyInAnyOrder("X-RateLimit-Limit", "X-RateLimit-Remaining",
				"X-RateLimit-Reset");
		assertThat(response.getHeader("X-RateLimit-Limit")).isEqualTo("10");
		assertThat(response.getHeader("X-RateLimit-Remaining")).isEqualTo("9");
	}

	@ParameterizedTest
	@CsvSource({ "2026-01-01T00:00:00Z, PT10S, 2026-01-01T00:00:10Z",
			"2026-01-01T00:00:00Z, PT0S, 2026-01-01T00:00:00Z",
			"2026-01-01T00:00:00.000000001Z, PT10S, 2026-01-01T00:00:11Z",
			"2026-01-01T00:00:00.5Z, PT0.5S, 2026-01-01T00:00:01Z",
			"2026-01-01T00:00:00.999999Z, PT0.000001S, 2026-01-01T00:00:01Z",
			"2026-01-01T00:00:00.999999Z, PT0.000002S, 2026-01-01T00:00:02Z" })
	void resetIsTimeOfDayInWholeSecondsRoundedUp(String now, Duration resetAfter, Instant expected) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/m"));
		MockHttpServletResponse response = new MockHttpServletResponse();
		new StatusHeaders(Set.of(HeaderStyle.X_RATELIMIT), () -> Instant.parse(now), Map.of()).write(List
			.of(new LimitStatus(policy, Identifier.GLOBAL, policy.limits().get(0), 1, resetAfter, ALLOWED, false)),
				response);
		assertThat(response.getHeader("X-RateLimit-Reset")).isEqualTo("" + expected.getEpochSecond());
	}

	@ParameterizedTest
	@EnumSource
	void namesAreThoseOfHeadersThatAreWritten(HeaderStyle style) {
		add(true, status("api", "10/m", 1, "9s", ALLOWED));
		assertThat(write(Set.of(style)).getHeaderNames()).isNotEmpty()
			.containsExactlyInAnyOrderElementsOf(new StatusHeaders(Set.of(style), this.clock, Map.of()).names());
	}

	@Test
	void callsHaveNoTimes() {
		Policy calls = Policy.of("calls", new ConcurrentCalls(), Limit.parse("5/m"));
		LimitStatus running = new LimitStatus(calls, Identifier.GLOBAL, calls.limits().get(0), 0,
				Duration.ofSeconds(60), Duration.ofSeconds(60), true);
		this.statuses.add(new Decided(new Decision(false, List.of(running))));
		MockHttpServletResponse only = write(EnumSet.allOf(HeaderStyle.class));
		assertThat(only.getHeader("RateLimit-Policy")).isEqualTo("\"calls\";q=5;qu=\"concurrent-requests\"");
		assertThat(only.getHeader("RateLimit")).isEqualTo("\"calls\";r=0");
		assertThat(only.getHeader("X-RateLimit-Limit")).isEqualTo("5");
		assertThat(only.getHeader("X-RateLimit-Reset")).isNull();
		add(true, status("api", "10/m", 7, "30s", ALLOWED));
		MockHttpServletResponse both = write(EnumSet.allOf(HeaderStyle.class));
		assertThat(both.getHeader("RateLimit")).isEqualTo("\"calls\";r=0, \"api\";r=7;t=30");
		assertThat(both.getHeader("X-Rate-Limit-Remaining")).isEqualTo("7");
		assertThat(both.getHeader("X-RateLimit-Limit")).isEqualTo("10");
		assertThat(both.getHeader("X-RateLimit-Reset")).isNotNull();
	}

	@Test
	void draftHeadersAreLeftOutWhenTooLong() {
		LimitHeaders headers = new StatusHeaders(EnumSet.of(HeaderStyle.DRAFT, HeaderStyle.X_RATE_LIMIT), this.clock,
				Map.of());
		MockHttpServletResponse response = new MockHttpServletResponse();
		add(true, status("few", "1/m", 0, "1m", ALLOWED));
		this.statuses.write(headers, response);
		assertThat(response.getHeaderNames()).contains("RateLimit", "RateLimit-Policy");
		for (boolean allowed : new boolean[] { true, false }) {
			add(allowed,
					IntStream.range(0, 30)
						.mapToObj((i) -> status("long-name-".repeat(12) + i, "1/m", 0, "1m", Duration.ofMinutes(1)))
						.toArray(LimitStatus[]::new));
			this.statuses.write(headers, response);
			assertThat(response.getHeaderNames()).containsExactlyInAnyOrder("X-Rate-Limit-Limit",
					"X-Rate-Limit-Remaining");
		}
	}

	@Test
	void nothingIsWrittenWhenResponseIsCommitted() {
		add(true, status("api", "10/m", 7, "30s", ALLOWED));
		MockHttpServletResponse response = new MockHttpServletResponse();
		response.setCommitted(true);
		this.statuses.write(new StatusHeaders(Set.of(HeaderStyle.DRAFT), this.clock, Map.of()), response);
		assertThat(response.getHeaderNames()).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "PT0S, 0", "PT0.000001S, 1", "PT1S, 1", "PT1.000001S, 2", "PT59.999999S, 60" })
	void secondsAreRoundedUp(Duration time, long expected) {
		assertThat(StatusHeaders.seconds(time)).isEqualTo(expected);
	}

	private void add(boolean allowed, LimitStatus... limits) {
		this.statuses.add(new Decided(new Decision(allowed, List.of(limits))));
	}

	private static LimitStatus status(String name, String text, long remaining, String reset,
			@Nullable Duration retryAfter) {
		Limit limit = Limit.parse(text);
		return new LimitStatus(Policy.of(name, new FixedWindow(), limit), Identifier.GLOBAL, limit, remaining,
				Limit.parse("1/" + ("0s".equals(reset) ? "s" : reset)).window(), retryAfter,
				!ALLOWED.equals(retryAfter));
	}

	private MockHttpServletResponse write(Set<HeaderStyle> styles) {
		MockHttpServletResponse response = new MockHttpServletResponse();
		this.statuses.write(new StatusHeaders(styles, this.clock, Map.of()), response);
		return response;
	}

	private Collection<LimitStatus> known() {
		List<LimitStatus> known = new ArrayList<>();
		this.statuses.write(new LimitHeaders() {

			@Override
			public Set<String> names() {
				return Set.of();
			}

			@Override
			public void write(Collection<LimitStatus> statuses, HttpServletResponse response) {
				known.addAll(statuses);
			}

		}, new MockHttpServletResponse());
		return known;
	}

}
