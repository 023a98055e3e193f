package io.github.ratelimit.spring.web;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients behind a proxy that forwards their addresses: none gets a count of its own by
 * the way its address is written.
 */
class ForwardedAddressIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	@ParameterizedTest
	@CsvSource({ "framework, Forwarded, 'for=\"[2001:db8:1:2::%d]\"'",
			"framework, Forwarded, 'for=\"[2001:db8:1:2::%d]:555%<d\"'", "framework, X-Forwarded-For, 2001:db8:1:2::%d",
			"native, X-Forwarded-For, 2001:db8:1:2::%d", "native, X-Forwarded-For, [2001:db8:1:2::%d]:555%<d",
			"native, X-Forwarded-For, 203.0.113.7:555%d", "framework, Forwarded, 'for=\"203.0.113.7:555%d\"'" })
	void addressesOfOneClientShareCount(String strategy, String header, String form) {
		TestApplication application = application(strategy);
		for (int i = 0; i < 10; i++) {
			assertThat(application.get("/api", header, form.formatted(i)).statusCode()).isEqualTo((i < 3) ? 200 : 429);
		}
		assertThat(application.get("/api", header, "for=203.0.113.99".substring(header.equals("Forwarded") ? 0 : 4))
			.statusCode()).isEqualTo(200);
	}

	@Test
	void forwardedAddressIsNotUsedByDefault() {
		TestApplication application = application("none");
		for (int i = 0; i < 10; i++) {
			assertThat(application.get("/api", "X-Forwarded-For", "203.0.113." + i).statusCode())
				.isEqualTo((i < 3) ? 200 : 429);
		}
	}

	private static TestApplication application(String strategy) {
		return applications.get(TestApplication.Served.class, "server.forward-headers-strategy=" + strategy,
				"ratelimit.policies.api.paths=/api", "ratelimit.policies.api.limits=3/m");
	}

}
