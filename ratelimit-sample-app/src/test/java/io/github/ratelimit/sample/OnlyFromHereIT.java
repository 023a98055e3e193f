package io.github.ratelimit.sample;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link OnlyFromHere} behind a proxy on the machine of the application.
 */
class OnlyFromHereIT {

	private static final String[][] FORWARDED = { { "X-Forwarded-For", "127.0.0.1" },
			{ "X-Forwarded-For", "127.0.0.1, 10.0.0.5" }, { "X-Forwarded-For", "203.0.113.9" },
			{ "Forwarded", "for=127.0.0.1;host=localhost" }, { "X-Forwarded-Host", "localhost" },
			{ "X-Real-IP", "127.0.0.1" }, { "Via", "1.1 proxy" } };

	@ParameterizedTest
	@CsvSource({ "none, 200", "framework, 200", "native, 403" })
	void nobodyBehindProxyIsFromHere(String strategy, int direct) {
		try (Playground playground = new Playground("--server.forward-headers-strategy=" + strategy)) {
			assertThat(playground.status("DELETE shared/second")).isEqualTo(direct);
			for (String[] header : FORWARDED) {
				assertThat(playground.status("DELETE shared/second", header)).as(String.join(": ", header))
					.isEqualTo(403);
			}
		}
	}

}
