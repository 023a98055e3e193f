package io.github.ratelimit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LimitTests {

	@ParameterizedTest
	@CsvSource({ "10/s, 10, PT1S,", "120/m, 120, PT1M,", "240/h, 240, PT1H,", "1000/d, 1000, PT24H,",
			"1/ms, 1, PT0.001S,", "10/500ms, 10, PT0.5S,", "100/15m, 100, PT15M,", "5/1500ms, 5, PT1.5S,",
			"0/s, 0, PT1S,", "7/61s, 7, PT1M1S,", "7/90m, 7, PT90M,", "7/25h, 7, PT25H,", "1/3650d, 1, PT87600H,",
			"9007199254740991/s, 9007199254740991, PT1S,", "100/week, 100, PT168H, WEEKS",
			"100/month, 100, PT744H, MONTHS", "0/year, 0, PT8784H, YEARS" })
	void textIsReadAndWritten(String text, long quota, Duration window, @Nullable ChronoUnit calendar) {
		Limit limit = Limit.parse(text);
		assertThat(limit).isEqualTo(new Limit(quota, window, calendar));
		assertThat(limit.withQuota(7)).isEqualTo(new Limit(7, window, calendar));
		assertThat(limit.toString()).isEqualTo(text);
		assertThat(limit.windowText()).isEqualTo(text.substring(text.indexOf('/') + 1));
	}

	@ParameterizedTest
	@CsvSource({ "10/1s, 10/s", "10/60s, 10/m", "10/1000ms, 10/s", "10/3600s, 10/h", "10/24h, 10/d", "10/1440m, 10/d",
			"007/05m, 7/5m", "5/1month, 5/month", "' 10/s ', 10/s", "'\t10/s\n', 10/s" })
	void textIsWrittenInItsShortestForm(String text, String shortest) {
		assertThat(Limit.parse(text)).hasToString(shortest);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "/", "12", "12/", "/s", "12/x", "12/1", "-1/s", "+1/s", "10/-1s", "1.5/s",
			"10/1.5s", "10/S", "10/MS", "10 /s", "10/ s", "10/5 m", "10/sec", "10/mon", "10/months", "10/M", "10/y",
			"10 per s", "10/s,20/m", "1e3/s", "\u0663/s", "99999999999999999999/s", "10/99999999999999999999d",
			"%s/%d" })
	void textThatIsNoLimitIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Limit.parse(text))
			.withMessage("Invalid limit (" + text
					+ "): must be quota/window, such as 10/s, 100/15m or 100/month; the units are ms, s, m, h, d, week, month and year.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					9999999999999999999/s | the number is too large.
					10/9999999999999999999d | the number is too large.
					10/9223372036854775807d | the number is too large.
					10/9223372036854775807m | the number is too large.
					5/2week | there must be no number before week.
					5/0month | there must be no number before month.
					5/10year | there must be no number before year.
					9007199254740992/s | Invalid quota (9007199254740992): must be between 0 and 9007199254740991.
					10/00d | Invalid window (PT0S): must be whole milliseconds, from 1ms to 3650d.
					10/0ms | Invalid window (PT0S): must be whole milliseconds, from 1ms to 3650d.
					10/3651d | Invalid window (PT87624H): must be whole milliseconds, from 1ms to 3650d.
					10/315360000001ms | Invalid window (PT87600H0.001S): must be whole milliseconds, from 1ms to 3650d.
					10/9223372036854775807ms | Invalid window (PT2562047788015H12M55.807S): must be whole milliseconds, from 1ms to 3650d.
					""")
	void textWithANumberOutOfRangeIsRefused(String text, String rule) {
		assertThatIllegalArgumentException().isThrownBy(() -> Limit.parse(text))
			.withMessage("Invalid limit (%s): %s".formatted(text, rule));
	}

	@ParameterizedTest
	@CsvSource({ "1/ms, 1000", "1/1500ms, 1500000", "1/d, 86400000000", "1/3650d, 315360000000000" })
	void windowIsGivenInMicroseconds(String text, long micros) {
		assertThat(Limit.parse(text).windowMicros()).isEqualTo(micros);
	}

}
