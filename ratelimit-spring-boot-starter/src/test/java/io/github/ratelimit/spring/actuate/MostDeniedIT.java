package io.github.ratelimit.spring.actuate;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.actuate.ActuatorApplication.Response;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who was denied most, over HTTP, where identifiers are hashed with a secret. Denials are
 * answered from memory after the first.
 */
class MostDeniedIT {

	private static final String DENIED = "/actuator/ratelimits/denied";

	private static ActuatorApplication application;

	@BeforeAll
	static void start() {
		application = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(), "ratelimit.identifier-secret=pepper",
				"management.endpoints.web.exposure.include=ratelimits",
				"management.endpoint.ratelimits.access=unrestricted", "ratelimit.policies.quota.limits=3/d",
				"ratelimit.policies.quota.paths=/served/quota", "ratelimit.policies.quota.identifiers=header:X-User",
				"ratelimit.policies.combined.limits=2/d", "ratelimit.policies.combined.paths=/served/combined",
				"ratelimit.policies.combined.identifiers=header:X-User+path");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void mostDeniedComeFirstAndAreHashed() {
		for (int i = 0; i < 6; i++) {
			application.get("/served/quota", "X-User", "often");
			application.get("/served/quota", "X-User", (i < 4) ? "once" : "never");
		}
		for (int i = 0; i < 4; i++) {
			application.get("/served/combined", "X-User", "often");
		}
		String often = "quota " + hashed(new Identifier("header:X-User", "often")) + " denied 3";
		String once = "quota " + hashed(new Identifier("header:X-User", "once")) + " denied 1";
		Response response = application.get(DENIED);
		assertThat(response.body()).doesNotContain("often", "once", "/served");
		assertThat(response.json().path("denied")).extracting(MostDeniedIT::text)
			.containsExactly(often,
					"combined " + hashed(new Identifier("header:X-User+path", "often+/served/combined")) + " denied 2",
					once);
		assertThat(denied("?policy=quota&size=1")).containsExactly(often);
		assertThat(denied("?identifier=header:X-User:once")).containsExactly(once);
		assertThat(denied("?identifier=header:X-User:never")).isEmpty();
	}

	/** It would be hashed once more, and block nobody. */
	@Test
	void hashIsRejectedWhereAnIdentifierIsExpected() {
		String hash = hashed(new Identifier("header:X-User", "api-key"));
		Response blocked = application.post("/actuator/ratelimits/blocks",
				"{\"identifier\":\"%s\",\"time\":\"1h\"}".formatted(hash));
		assertThat(blocked.status()).isEqualTo(400);
		assertThat(blocked.body())
			.contains("Invalid identifier (%s): is a hash. Name the identifier itself, such as ip:203.0.113.7."
				.formatted(hash));
		assertThat(application.get("/actuator/ratelimits/counts?identifier=" + hash).status()).isEqualTo(400);
	}

	private static String hashed(Identifier identifier) {
		return RedisRateLimiter.hashed(identifier, "pepper").toString();
	}

	private static List<String> denied(String query) {
		return application.get(DENIED + query).json().path("denied").valueStream().map(MostDeniedIT::text).toList();
	}

	private static String text(JsonNode denied) {
		return String.join(" ", denied.path("policy").stringValue(), denied.path("identifier").stringValue(),
				denied.path("outcome").stringValue(), denied.path("requests").toString());
	}

}
