package io.github.ratelimit.spring.web;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients behind proxies that the application trusts: each has its own count, and cannot
 * choose another.
 */
class TrustedProxyIT {

	@ParameterizedTest
	@CsvSource({ "x-forwarded-for, X-Forwarded-For, '%s, 203.0.113.7, 10.0.0.2', '203.0.113.8'",
			"forwarded, Forwarded, 'for=%s, for=203.0.113.7, for=10.0.0.2', 'for=203.0.113.8'" })
	void clientCannotChooseAnotherCount(String header, String name, String form, String other) {
		try (TestApplication application = start("ratelimit.ip.trusted-proxies=127.0.0.0/8,10.0.0.0/8",
				"ratelimit.ip.forwarded-header=" + header)) {
			for (int i = 0; i < 6; i++) {
				assertThat(application.get("/api", name, form.formatted("6.6.6." + i)).statusCode())
					.isEqualTo((i < 3) ? 200 : 429);
			}
			assertThat(application.get("/api", name, other).statusCode()).isEqualTo(200);
		}
	}

	@Test
	void headerDoesNotCountWhenConnectionIsNotOfProxy() {
		try (TestApplication application = start("ratelimit.ip.trusted-proxies=10.0.0.0/8")) {
			for (int i = 0; i < 6; i++) {
				assertThat(application.get("/api", "X-Forwarded-For", "203.0.113." + i).statusCode())
					.isEqualTo((i < 3) ? 200 : 429);
			}
		}
	}

	@Test
	void networkIsAsLongAsConfigured() {
		try (TestApplication application = start("ratelimit.ip.trusted-proxies=127.0.0.1",
				"ratelimit.ip.ipv6-prefix=48")) {
			for (int i = 0; i < 6; i++) {
				assertThat(application.get("/api", "X-Forwarded-For", "2001:db8:1:%d::1".formatted(i)).statusCode())
					.isEqualTo((i < 3) ? 200 : 429);
			}
			assertThat(application.get("/api", "X-Forwarded-For", "2001:db8:2::1").statusCode()).isEqualTo(200);
		}
	}

	private static TestApplication start(String... properties) {
		String[] all = new String[properties.length + 2];
		all[0] = "ratelimit.policies.api.paths=/api";
		all[1] = "ratelimit.policies.api.limits=3/m";
		System.arraycopy(properties, 0, all, 2, properties.length);
		return TestApplication.start(TestApplication.Served.class, all);
	}

}
