package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StatusHeaders} and {@link RequestStatuses}.
 */
class StatusHeadersTests {

	private static final Duration ALLOWED = Duration.ZERO;

	private final RequestStatuses statuses = new RequestStatuses();

	@Test
	void nothingIsWrittenWhenNothingIsKnown() {
		this.statuses.add(new Decision(true, List.of()));
		assertThat(write(EnumSet.allOf(HeaderStyle.class)).getHeaderNames()).isEmpty();
	}

	@Test
	void violatedLimitIsClosestEvenWhenOtherHasLess() {
		add(false, status("few", "2/m", 0, "30s", ALLOWED),
				status("violated", "10/m", 3, "10s", Duration.ofSeconds(5)));
		assertThat(this.statuses.closest().policy().name()).isEqualTo("violated");
	}

	@Test
	void limitWithLessIsClosest() {
		add(true, status("many", "100/m", 50, "60s", ALLOWED), status("few", "10/m", 9, "1s", ALLOWED));
		assertThat(this.statuses.closest().policy().name()).isEqualTo("few");
	}

	@Test
	void limitThatResetsLaterIsClosestWhenRestIsTheSame() {
		add(true, status("soon", "10/m", 5, "10s", ALLOWED), status("late", "10/m", 5, "30s", ALLOWED));
		assertThat(this.statuses.closest().policy().name()).isEqualTo("late");
	}

	@Test
	void limitStandsOnceForIdentifierThatIsClosest() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/m"));
		this.statuses.add(new Decision(true,
				List.of(new LimitStatus(policy, Identifier.ip("a"), Limit.parse("10/m"), 7, Duration.ofSeconds(9),
						ALLOWED),
						new LimitStatus(policy, Identifier.user("b"), Limit.parse("10/m"), 4, Duration.ofSeconds(8),
								ALLOWED))));
		assertThat(write(Set.of(HeaderStyle.DRAFT)).getHeader("RateLimit")).isEqualTo("\"api\";r=4;t=8");
	}

	@Test
	void laterDecisionReplacesEarlierOfSamePolicy() {
		add(true, status("api", "10/m", 1, "9s", ALLOWED));
		add(true, status("api", "10/m", 5, "3s", ALLOWED));
		assertThat(write(Set.of(HeaderStyle.DRAFT)).getHeader("RateLimit")).isEqualTo("\"api\";r=5;t=3");
	}

	@Test
	void limitsStandInOrderOfChecks() {
		add(true, status("one", "10/m", 1, "9s", ALLOWED));
		add(true, status("two", "10/m", 5, "3s", ALLOWED));
		assertThat(write(Set.of(HeaderStyle.DRAFT)).getHeader("RateLimit"))
			.isEqualTo("\"one\";r=1;t=9, \"two\";r=5;t=3");
	}

	@Test
	void numbersAreClampedToFifteenDigits() {
		add(true, status("api", "9007199254740991/d", 9_007_199_254_740_990L, "1d", ALLOWED));
		MockHttpServletResponse response = write(EnumSet.allOf(HeaderStyle.class));
		assertThat(response.getHeader("RateLimit-Policy")).isEqualTo("\"api\";q=999999999999999;w=86400");
		assertThat(response.getHeader("RateLimit")).isEqualTo("\"api\";r=999999999999999;t=86400");
		assertThat(response.getHeader("X-Rate-Limit-Remaining")).isEqualTo("9007199254740990");
	}

	@ParameterizedTest
	@CsvSource({ "10/500ms, false", "10/1500ms, false", "10/1000ms, true", "10/s, true", "10/d, true" })
	void windowIsWrittenOnlyWhenItIsWholeSeconds(String limit, boolean expected) {
		add(true, status("api", limit, 1, "0s", ALLOWED));
		assertThat(write(Set.of(HeaderStyle.DRAFT)).getHeader("RateLimit-Policy").contains(";w=")).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({ "PT0S, 0", "PT0.000001S, 1", "PT1S, 1", "PT1.000001S, 2", "PT59.999999S, 60" })
	void secondsAreRoundedUp(Duration time, long expected) {
		assertThat(StatusHeaders.seconds(time)).isEqualTo(expected);
	}

	private void add(boolean allowed, LimitStatus... limits) {
		this.statuses.add(new Decision(allowed, List.of(limits)));
	}

	private static LimitStatus status(String name, String text, long remaining, String reset,
			@Nullable Duration retryAfter) {
		Limit limit = Limit.parse(text);
		return new LimitStatus(Policy.of(name, new FixedWindow(), limit), Identifier.GLOBAL, limit, remaining,
				Limit.parse("1/" + ("0s".equals(reset) ? "s" : reset)).window(), retryAfter);
	}

	private MockHttpServletResponse write(Set<HeaderStyle> styles) {
		MockHttpServletResponse response = new MockHttpServletResponse();
		new StatusHeaders(styles).write(this.statuses, response);
		return response;
	}

}
