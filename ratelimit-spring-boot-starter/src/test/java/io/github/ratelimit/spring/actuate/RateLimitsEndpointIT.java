package io.github.ratelimit.spring.actuate;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.actuate.ActuatorApplication.Response;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoint {@code ratelimits} over HTTP.
 */
class RateLimitsEndpointIT {

	private static final String ENDPOINT = "/actuator/ratelimits";

	private static ActuatorApplication application;

	@BeforeAll
	static void start() {
		application = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(),
				"management.endpoints.web.exposure.include=ratelimits",
				"management.endpoint.ratelimits.access=unrestricted");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void policiesAreShown() {
		Response response = application.get(ENDPOINT);
		assertThat(response.status()).isEqualTo(200);
		JsonNode policies = response.json().path("policies");
		assertThat(policies.propertyNames()).containsExactly("Application.search", "api", "login", "series");
		assertThat(policies.path("api")).hasToString("{\"algorithm\":\"sliding-log\",\"limits\":[\"3/d\",\"5/2d\"],"
				+ "\"identifiers\":[\"ip\",\"header:X-User\"],\"countDenied\":false,\"mode\":\"enforce\","
				+ "\"onStoreFailure\":\"local\"}");
		assertThat(policies.path("series").path("mode").stringValue()).isEqualTo("shadow");
		assertThat(policies.path("login").path("onStoreFailure").stringValue()).isEqualTo("deny");
		assertThat(policies.path("Application.search").path("limits")).hasToString("[\"1/d\"]");
		assertThat(response.json().path("methods")).hasToString("[{\"method\":\"Application.search\","
				+ "\"policy\":\"Application.search\",\"identifiers\":[\"ip\"]},{\"method\":\"Application.login\","
				+ "\"policy\":\"login\",\"identifiers\":[\"header:X-User\"]}]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "alice", "with:colon", "slash/and?question&", "{brace}+plus %", "Zoë 日本", ".." })
	void identifierIsShownWhateverItsCharacters(String user) {
		String query = "?policy=api&identifier=" + ActuatorApplication.encode("header:X-User:" + user);
		assertThat(application
			.post(ENDPOINT + "/blocks",
					"{\"identifier\":\"header:X-User:" + user
							+ "\",\"policy\":\"api\",\"time\":\"1h\",\"reason\":\"scraping\"}")
			.status()).isEqualTo(200);
		JsonNode counts = application.get(ENDPOINT + "/counts" + query).json().path("counts");
		assertThat(counts).hasSize(1);
		assertThat(counts.get(0).path("identifier").stringValue()).isEqualTo("header:X-User:" + user);
		assertThat(counts.get(0).path("allowed").booleanValue()).isFalse();
		assertThat(counts.get(0).path("blockedFor").stringValue()).startsWith("PT59M");
		assertThat(application.delete(ENDPOINT + "/blocks" + query).status()).isEqualTo(200);
		assertThat(application.get(ENDPOINT + "/counts" + query).json().at("/counts/0/allowed").booleanValue())
			.isTrue();
	}

	@Test
	void countsAreShownAndReset() {
		application.get("/api", "X-User", "counted");
		application.get("/api", "X-User", "counted");
		String query = "/counts?policy=api&identifier=header:X-User:counted";
		JsonNode counts = application.get(ENDPOINT + query).json().path("counts").get(0);
		assertThat(counts.path("policy").stringValue()).isEqualTo("api");
		assertThat(counts.path("limits").get(0).path("limit").stringValue()).isEqualTo("3/d");
		assertThat(counts.path("limits").get(0).path("remaining").longValue()).isEqualTo(1);
		assertThat(counts.path("limits").get(1).path("remaining").longValue()).isEqualTo(3);
		assertThat(counts.path("limits").get(0).path("resetAfter").stringValue()).startsWith("PT23H59M");
		assertThat(counts.path("limits").get(0).path("retryAfter").stringValue()).isEqualTo("PT0S");
		assertThat(counts.path("requests")).hasSize(2);
		assertThat(counts.path("requests").get(0).path("cost").longValue()).isEqualTo(1);
		assertThat(counts.has("windows")).isFalse();
		Response reset = application.delete(ENDPOINT + query);
		assertThat(reset.json()).hasToString("{\"reset\":[\"api\"]}");
		assertThat(application.get(ENDPOINT + query).json().at("/counts/0/limits/0/remaining").longValue())
			.isEqualTo(3);
	}

	@Test
	void newestRequestsAreShownWhenThereAreMany() {
		Policy api = application.bean(ConfiguredPolicies.class).find("api").orElseThrow().policy();
		List<Limit> large = api.limits().stream().map((limit) -> new Limit(1000, limit.window())).toList();
		Policy plan = new Policy(api.name(), api.algorithm(), large, api.countDenied());
		RateLimiter limiter = application.bean(RateLimiter.class);
		for (int i = 1; i <= 101; i++) {
			limiter.tryAcquire(plan, new Identifier("header:X-User", "many"), (i == 1) ? 2 : 1);
		}
		JsonNode requests = application.get(ENDPOINT + "/counts?policy=api&identifier=header:X-User:many")
			.json()
			.at("/counts/0/requests");
		assertThat(requests).hasSize(100).allSatisfy((entry) -> assertThat(entry.path("cost").longValue()).isOne());
	}

	@Test
	void lookingUsesNothing() {
		for (int i = 0; i < 5; i++) {
			JsonNode counts = application.get(ENDPOINT + "/counts?identifier=header:X-User:looked").json();
			assertThat(counts.path("counts")).hasSize(3)
				.allSatisfy((each) -> assertThat(each.path("allowed").booleanValue()).isTrue());
		}
	}

	@Test
	void policiesThatCountIdentifierAreShownWhenNoneIsNamed() {
		assertThat(application.get(ENDPOINT + "/counts?identifier=ip:203.0.113.7").json().path("counts"))
			.extracting((counts) -> counts.path("policy").stringValue())
			.containsExactly("Application.search", "api", "login");
		JsonNode series = application.get(ENDPOINT + "/counts?identifier=header:X-User:any&policy=series").json();
		assertThat(series.at("/counts/0/windows").isArray()).isTrue();
		assertThat(series.at("/counts/0").has("requests")).isFalse();
	}

	@Test
	void blocksAreListed() {
		String query = "/blocks?identifier=ip:203.0.113.9";
		Response block = application.post(ENDPOINT + "/blocks",
				"{\"identifier\":\"ip:203.0.113.9\",\"time\":\"PT1H\"}");
		assertThat(block.status()).isEqualTo(200);
		assertThat(block.json().path("identifier").stringValue()).isEqualTo("ip:203.0.113.9");
		assertThat(block.json().path("reason").stringValue()).isEmpty();
		assertThat(application.get(ENDPOINT + "/blocks").json().path("blocks")).containsExactly(block.json());
		assertThat(application.delete(ENDPOINT + query).status()).isEqualTo(200);
		assertThat(application.delete(ENDPOINT + query).status()).isEqualTo(404);
		assertThat(application.get(ENDPOINT + "/blocks").json()).hasToString("{\"blocks\":[]}");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					?identifier=ip:1&policy=nope         | Invalid policy (nope): must be one of [Application.search, api, login, series].
					?policy=api                          | Invalid identifier: must be given, such as ip:203.0.113.7.
					?identifier=alice                    | Invalid identifier (alice): must be global or type:value, where the type is one of [global, header:X-User, ip].
					?identifier=user:alice               | Invalid identifier (user:alice): must be global or type:value, where the type is one of [global, header:X-User, ip].
					?identifier=header:X-User:a&policy=Application.search | Invalid identifier (header:X-User:a): the policy 'Application.search' counts by ip.
					?identifier=global                   | Invalid identifier (global:): no policy counts by global.
					""")
	void wrongQuestionIsAnsweredWithReason(String query, String reason) {
		assertRefused(application.get(ENDPOINT + "/counts" + query), 400, reason);
		assertRefused(application.delete(ENDPOINT + "/counts" + query), 400, reason);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					"time":"soon"     | Invalid time (soon): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":3600       | Invalid time (3600): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":"99999999999999999d" | Invalid time (99999999999999999d): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"reason":"x"      | Invalid time (null): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":"-1h"      | Invalid time (PT-1H): must be from 1ms to 3650d.
					"time":"1h","policy":"nope" | Invalid policy (nope): must be one of [Application.search, api, login, series].
					""")
	void wrongBlockIsAnsweredWithReason(String rest, String reason) {
		assertRefused(application.post(ENDPOINT + "/blocks", "{\"identifier\":\"ip:203.0.113.8\"," + rest + "}"), 400,
				reason);
		assertThat(application.get(ENDPOINT + "/blocks").body()).doesNotContain("203.0.113.8");
	}

	@Test
	void unknownPartIsNotFound() {
		assertRefused(application.get(ENDPOINT + "/users"), 404, "There is no 'users', only counts, blocks, denied.");
		assertRefused(application.post(ENDPOINT + "/counts", "{}"), 404, "Nothing can be written to 'counts'.");
		assertRefused(application.post(ENDPOINT + "/denied", "{}"), 404, "Nothing can be written to 'denied'.");
		assertRefused(application.delete(ENDPOINT + "/denied"), 404, "Nothing can be deleted from 'denied'.");
	}

	/** By Spring Boot, as the documentation says. */
	@Test
	void bodyThatIsNotJsonIsRefused() {
		assertThat(application.post(ENDPOINT + "/blocks", "nonsense").status()).isEqualTo(400);
		assertThat(application.form(ENDPOINT + "/blocks", "identifier=ip:203.0.113.7&time=1h").status()).isEqualTo(415);
		assertThat(application.get(ENDPOINT + "/blocks").json()).hasToString("{\"blocks\":[]}");
	}

	@Test
	void nothingButReadingIsThereByDefault() {
		try (ActuatorApplication readOnly = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(),
				"management.endpoints.web.exposure.include=ratelimits")) {
			assertThat(readOnly.get(ENDPOINT).status()).isEqualTo(200);
			assertThat(readOnly.get(ENDPOINT + "/blocks").status()).isEqualTo(200);
			assertThat(
					readOnly.post(ENDPOINT + "/blocks", "{\"identifier\":\"ip:203.0.113.7\",\"time\":\"1h\"}").status())
				.isEqualTo(405);
			assertThat(readOnly.delete(ENDPOINT + "/counts?identifier=ip:203.0.113.7").status()).isEqualTo(405);
			assertThat(readOnly.delete(ENDPOINT + "/blocks?identifier=ip:203.0.113.7").status()).isEqualTo(405);
			assertThat(readOnly.get(ENDPOINT + "/blocks").json()).hasToString("{\"blocks\":[]}");
		}
	}

	@Test
	void nothingIsExposedByDefaultAndFailureOfStoreIsTold() {
		try (ActuatorApplication hidden = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri())) {
			assertThat(hidden.get(ENDPOINT).status()).isEqualTo(404);
		}
		int port = TestRedis.freePort();
		try (ActuatorApplication failing = ActuatorApplication.start("ratelimit.redis.url=redis://127.0.0.1:" + port,
				"management.endpoints.web.exposure.include=ratelimits")) {
			assertThat(failing.get(ENDPOINT).status()).isEqualTo(200);
			Response refused = failing.get(ENDPOINT + "/counts?identifier=ip:203.0.113.7");
			assertRefused(refused, 503, "Redis failed to read counts");
			assertThat(refused.json().path("cause").stringValue()).contains("127.0.0.1:" + port)
				.endsWith("java.net.ConnectException: Connection refused");
		}
	}

	private static void assertRefused(Response response, int status, String reason) {
		assertThat(response.status()).isEqualTo(status);
		assertThat(response.json().path("error").stringValue()).isEqualTo(reason);
	}

}
