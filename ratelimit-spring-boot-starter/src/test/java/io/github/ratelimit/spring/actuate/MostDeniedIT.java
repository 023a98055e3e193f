package io.github.ratelimit.spring.actuate;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.actuate.ActuatorApplication.Response;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who was denied most, over HTTP. Denials are answered from memory after the first.
 */
class MostDeniedIT {

	private static final String DENIED = "/actuator/ratelimits/denied";

	private static ActuatorApplication application;

	private static ActuatorApplication secret;

	@BeforeAll
	static void start() {
		application = application("management.endpoint.ratelimits.access=unrestricted");
		secret = application("management.endpoint.ratelimits.access=unrestricted",
				"ratelimit.identifier-secret=pepper");
	}

	private static ActuatorApplication application(String... others) {
		List<String> properties = new ArrayList<>(
				List.of("ratelimit.redis.url=" + TestRedis.uri(), "ratelimit.key-prefix=" + TestRedis.newKeyPrefix(),
						"management.endpoints.web.exposure.include=ratelimits",
						"ratelimit.defaults.identifiers=header:X-User"));
		properties.addAll(policy("quota", "3/d"));
		properties.addAll(policy("combined", "2/d", "identifiers=header:X-User+path"));
		properties.addAll(List.of(others));
		return ActuatorApplication.start(properties.toArray(String[]::new));
	}

	private static List<String> policy(String name, String limits, String... options) {
		String prefix = "ratelimit.policies." + name + ".";
		List<String> properties = new ArrayList<>(
				List.of(prefix + "limits=" + limits, prefix + "paths=/served/" + name));
		List.of(options).forEach((option) -> properties.add(prefix + option));
		return properties;
	}

	@AfterAll
	static void stop() {
		application.close();
		secret.close();
	}

	@Test
	void mostDeniedComeFirstWithoutThoseWhoWereAllowed() {
		get("quota", "often", 6);
		get("quota", "once", 4);
		get("quota", "never", 3);
		JsonNode denied = denied("?policy=quota");
		assertThat(denied).extracting(MostDeniedIT::text)
			.containsExactly("quota header:X-User:often denied 3", "quota header:X-User:once denied 1");
		assertThat(denied.get(0).path("byMinute")).hasSize(5);
		assertThat(denied("?policy=quota&size=1")).extracting(MostDeniedIT::text)
			.containsExactly("quota header:X-User:often denied 3");
		assertThat(denied("?identifier=header:X-User:once")).extracting(MostDeniedIT::text)
			.containsExactly("quota header:X-User:once denied 1");
		assertThat(denied("?identifier=header:X-User:never")).isEmpty();
	}

	@Test
	void methodsAreShownAsPathsAre() {
		application.get("/search");
		application.get("/search");
		assertThat(denied("?policy=Application.search")).extracting(MostDeniedIT::text)
			.containsExactly("Application.search ip:127.0.0.1 denied 1");
	}

	@Test
	void hashesAreShownWhereIdentifiersAreHashedWithSecret() {
		for (int i = 0; i < 4; i++) {
			secret.get("/served/quota", "X-User", "api-key");
			secret.get("/served/combined", "X-User", "api-key");
		}
		Response response = secret.get(DENIED);
		assertThat(response.body()).doesNotContain("api-key", "/served");
		assertThat(response.json().path("denied")).extracting(MostDeniedIT::text)
			.containsExactly("combined " + hashed(new Identifier("header:X-User+path", "api-key+/served/combined"))
					+ " denied 2", "quota " + hashed(new Identifier("header:X-User", "api-key")) + " denied 1");
		Response one = secret.get(DENIED + "?policy=quota&identifier=header:X-User:api-key");
		assertThat(one.json().path("denied")).hasSize(1);
		assertThat(one.body()).doesNotContain("api-key");
	}

	/** It would be hashed once more, and block nobody. */
	@Test
	void hashIsRejectedWhereAnIdentifierIsExpected() {
		String hash = hashed(new Identifier("header:X-User", "api-key")).toString();
		Response blocked = secret.post("/actuator/ratelimits/blocks",
				"{\"identifier\":\"%s\",\"time\":\"1h\"}".formatted(hash));
		assertThat(blocked.status()).isEqualTo(400);
		assertThat(blocked.body())
			.contains("Invalid identifier (%s): is a hash. Name the identifier itself, such as ip:203.0.113.7."
				.formatted(hash));
		assertThat(secret.get("/actuator/ratelimits/counts?identifier=" + hash).status()).isEqualTo(400);
	}

	private static Identifier hashed(Identifier identifier) {
		return RedisRateLimiter.hashed(identifier, "pepper");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			?size=0           | Invalid size (0): must be from 1 to 100.
			?size=101         | Invalid size (101): must be from 1 to 100.
			?size=abc         | Invalid size (abc): must be from 1 to 100.
			?size=99999999999 | Invalid size (99999999999): must be from 1 to 100.
			?policy=nope      | Invalid policy (nope): must be one of [
			?identifier=alice | Invalid identifier (alice): must be global or type:value
			""")
	void wrongQuestionIsAnsweredWithReason(String query, String reason) {
		Response response = application.get(DENIED + query);
		assertThat(response.status()).isEqualTo(400);
		assertThat(response.json().path("error").stringValue()).startsWith(reason);
	}

	private static void get(String policy, String user, int times) {
		for (int i = 0; i < times; i++) {
			application.get("/served/" + policy, "X-User", user);
		}
	}

	private static JsonNode denied(String query) {
		return application.get(DENIED + query).json().path("denied");
	}

	private static String text(JsonNode denied) {
		return String.join(" ", denied.path("policy").stringValue(), denied.path("identifier").stringValue(),
				denied.path("outcome").stringValue(), denied.path("requests").toString());
	}

}
