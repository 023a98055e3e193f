package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A hundred exports a month, as {@code docs/recipes.md} has them, and a number of
 * downloads a day.
 */
@StartApplication("""
		ratelimit:
		  policies:
		    exports: { paths: POST /exports, limits: 100/month, algorithm: fixed-window, zone: Europe/Berlin }
		    downloads: { paths: /downloads, limits: 1/d, algorithm: fixed-window, zone: Europe/Paris }
		""")
class CalendarWindowsIT extends WithApplication {

	@Test
	void quotaOfAMonthIsNewOnTheFirst() {
		this.application.setTime("2027-02-10T12:00:00Z");
		for (int i = 0; i < 100; i++) {
			assertThat(export(200, "2027-02-10T12:00:00Z").headers().firstValue("RateLimit-Policy"))
				.contains("\"exports\";q=100");
		}
		assertThat(export(429, "2027-02-28T22:59:59Z").headers().firstValue("Retry-After")).contains("1");
		assertThat(export(200, "2027-02-28T23:00:00Z").headers().firstValue("RateLimit"))
			.contains("\"exports\";r=99;t=" + 743 * 3600);
	}

	private HttpResponse<String> export(int status, String time) {
		this.application.setTime(time);
		HttpResponse<String> response = this.application.send("POST", "/exports");
		assertThat(response.statusCode()).isEqualTo(status);
		return response;
	}

	@ParameterizedTest
	@CsvSource({ "2021-03-27T23:00:00Z, 82800", "2021-06-30T22:00:00Z, 86400", "2021-10-30T22:00:00Z, 90000" })
	void retryAfterOfADayIsItsLength(String midnight, String seconds) {
		this.application.setTime(midnight);
		get(200, "/downloads");
		HttpResponse<String> denied = get(429, "/downloads");
		assertThat(denied.headers().firstValue("Retry-After")).contains(seconds);
		assertThat(denied.headers().firstValue("RateLimit-Policy")).contains("\"downloads\";q=1");
	}

}
