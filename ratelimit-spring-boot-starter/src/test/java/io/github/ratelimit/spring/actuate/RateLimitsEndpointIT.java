package io.github.ratelimit.spring.actuate;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.actuate.ActuatorApplication.Response;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
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
				"management.endpoint.ratelimits.access=unrestricted", "ratelimit.ip.trusted-proxies=127.0.0.1",
				"ratelimit.policies.each-path.limits=9/d", "ratelimit.policies.each-path.paths=/served/**",
				"ratelimit.policies.each-path.identifiers=ip+path");
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
		assertThat(policies.propertyNames()).containsExactly("Application.search", "api", "each-path", "login",
				"series");
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
	void callsAtOnceAreShownAndReset() {
		try (ActuatorApplication concurrent = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(),
				"management.endpoints.web.exposure.include=ratelimits",
				"management.endpoint.ratelimits.access=unrestricted", "ratelimit.policies.api.concurrent=4",
				"ratelimit.policies.only.concurrent=2", "ratelimit.policies.only.identifiers=ip")) {
			JsonNode policies = concurrent.get(ENDPOINT).json().path("policies");
			assertThat(policies.path("api").path("concurrent").longValue()).isEqualTo(4);
			assertThat(policies.path("only").path("concurrent").longValue()).isEqualTo(2);
			assertThat(policies.path("only").path("limits")).hasToString("[]");
			Policy calls = concurrent.bean(ConfiguredPolicies.class).find("api").orElseThrow().concurrent();
			concurrent.bean(RateLimiter.class)
				.tryAcquire(RateLimitRequest.of(calls, new Identifier("header:X-User", "running")).withCall(1));
			String query = "/counts?policy=api&identifier=header:X-User:running";
			JsonNode counts = concurrent.get(ENDPOINT + query).json().path("counts");
			assertThat(counts).extracting((each) -> each.path("policy").stringValue())
				.containsExactly("api", "api (at once)");
			assertThat(counts.get(1).at("/limits/0/remaining").longValue()).isEqualTo(3);
			assertThat(counts.get(1).at("/limits/0/limit").stringValue()).isEqualTo("4 concurrent");
			concurrent.delete(ENDPOINT + query);
			assertThat(concurrent.get(ENDPOINT + query).json().at("/counts/1/limits/0/remaining").longValue())
				.isEqualTo(4);
		}
	}

	@Test
	void leasesAndPenaltiesAreShown() {
		try (ActuatorApplication penalties = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"management.endpoints.web.exposure.include=ratelimits", "ratelimit.policies.leased.limits=100/m",
				"ratelimit.policies.leased.algorithm=fixed-window", "ratelimit.policies.leased.identifiers=ip",
				"ratelimit.policies.leased.lease=1s", "ratelimit.policies.leased.penalty.after=20",
				"ratelimit.policies.leased.penalty.within=1m", "ratelimit.policies.leased.penalty.block=15m",
				"ratelimit.policies.leased.penalty.up-to=1d", "ratelimit.policies.strict.limits=100/m",
				"ratelimit.policies.strict.identifiers=ip", "ratelimit.policies.strict.penalty.after=1",
				"ratelimit.policies.strict.penalty.within=1m", "ratelimit.policies.strict.penalty.block=15m",
				"ratelimit.policies.strict.penalty.mode=shadow")) {
			JsonNode policies = penalties.get(ENDPOINT).json().path("policies");
			assertThat(policies.path("leased").path("lease").stringValue()).isEqualTo("PT1S");
			assertThat(policies.path("leased").path("penalty")).hasToString("{\"after\":20,\"within\":\"PT1M\","
					+ "\"block\":\"PT15M\",\"upTo\":\"PT24H\",\"mode\":\"enforce\"}");
			assertThat(policies.path("strict").has("lease")).isFalse();
			assertThat(policies.path("strict").path("penalty").path("mode").stringValue()).isEqualTo("shadow");
		}
	}

	@Test
	void requestsAreShownInPages() {
		Policy api = application.bean(ConfiguredPolicies.class).find("api").orElseThrow().policy();
		List<Limit> large = api.limits().stream().map((limit) -> new Limit(1000, limit.window())).toList();
		Policy plan = new Policy(api.name(), api.algorithm(), large, api.countDenied());
		RateLimiter limiter = application.bean(RateLimiter.class);
		for (int i = 1; i <= 101; i++) {
			limiter.tryAcquire(plan, new Identifier("header:X-User", "many"), (i == 1) ? 2 : 1);
		}
		String query = "/counts?policy=api&identifier=header:X-User:many";
		JsonNode newest = application.get(ENDPOINT + query).json().at("/counts/0/requests");
		assertThat(newest).hasSize(100).allSatisfy((entry) -> assertThat(entry.path("cost").longValue()).isOne());
		String before = newest.get(99).path("time").stringValue();
		JsonNode next = application.get(ENDPOINT + query + "&before=" + before).json().path("counts").get(0);
		assertThat(next.path("requests")).singleElement()
			.satisfies((entry) -> assertThat(entry.path("cost").longValue()).isEqualTo(2));
		assertThat(next.at("/limits/0/limit").stringValue()).isEqualTo("3/d");
		String first = next.at("/requests/0/time").stringValue();
		assertThat(application.get(ENDPOINT + query + "&before=" + first).json().at("/counts/0/requests")).isEmpty();
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
	@CsvSource({ "2001:db8:1::5, 2001:db8:1::7, 2001:db8:1::/64", "2001:DB8:2:0::/64, 2001:db8:2::1, 2001:db8:2::/64",
			"::ffff:203.0.113.20, 203.0.113.20, 203.0.113.20", "203.0.113.21/32, 203.0.113.21, 203.0.113.21" })
	void addressMeansTheClientThatIsCountedByIt(String written, String client, String counted) {
		assertThat(application.get("/api", "X-Forwarded-For", client).status()).isEqualTo(200);
		String query = "?policy=api&identifier=ip:" + written;
		JsonNode counts = application.get(ENDPOINT + "/counts" + query).json().at("/counts/0");
		assertThat(counts.path("identifier").stringValue()).isEqualTo("ip:" + counted);
		assertThat(counts.at("/limits/0/remaining").longValue()).isEqualTo(2);
		application.delete(ENDPOINT + "/counts" + query);
		assertThat(application.get(ENDPOINT + "/counts" + query).json().at("/counts/0/limits/0/remaining").longValue())
			.isEqualTo(3);
		block("ip:" + written, "ip:" + counted);
		assertThat(application.get("/api", "X-Forwarded-For", client).status()).isEqualTo(429);
		assertThat(application.delete(ENDPOINT + "/blocks?identifier=ip:" + written).status()).isEqualTo(200);
		assertThat(application.get("/api", "X-Forwarded-For", client).status()).isEqualTo(200);
	}

	@Test
	void addressInCombinationMeansItsClient() {
		block("ip+path:2001:db8:3::5+/served/**", "ip+path:2001:db8:3::/64+/served/**");
		assertThat(application.get("/served/x", "X-Forwarded-For", "2001:db8:3::7").status()).isEqualTo(429);
		assertThat(application
			.delete(ENDPOINT + "/blocks?identifier=" + ActuatorApplication.encode("ip+path:2001:db8:3::7+/served/**"))
			.status()).isEqualTo(200);
		assertThat(application.get("/served/x", "X-Forwarded-For", "2001:db8:3::7").status()).isEqualTo(200);
	}

	private static void block(String identifier, String blocked) {
		Response block = application.post(ENDPOINT + "/blocks",
				"{\"identifier\":\"" + identifier + "\",\"time\":\"1h\"}");
		assertThat(block.status()).isEqualTo(200);
		assertThat(block.json().path("identifier").stringValue()).isEqualTo(blocked);
	}

	@ParameterizedTest
	@ValueSource(strings = { "10.0.0.0/8", "203.0.113.7/24", "2001:db8::/32", "2001:db8::5/64", "2001:db8::5/128",
			"999", "010.0.0.1", "203.0.113.*", "example.com", "" })
	void uncountedAddressIsAnsweredWithReason(String value) {
		assertNoAddress("ip:" + value, value);
		assertNoAddress("ip+path:" + value + "+/served/**", value);
	}

	private static void assertNoAddress(String identifier, String value) {
		String reason = "Invalid identifier (ip:" + value
				+ "): must be an address or the /64 network of an IPv6 address, such as ip:203.0.113.7 or ip:2001:db8::/64. Names are not looked up. To deny other networks, use ratelimit.deny.";
		String query = "?identifier=" + ActuatorApplication.encode(identifier);
		assertRefused(application.post(ENDPOINT + "/blocks", "{\"identifier\":\"" + identifier + "\",\"time\":\"1h\"}"),
				400, reason);
		assertRefused(application.delete(ENDPOINT + "/blocks" + query), 400, reason);
		assertRefused(application.get(ENDPOINT + "/counts" + query), 400, reason);
		assertRefused(application.delete(ENDPOINT + "/counts" + query), 400, reason);
		assertRefused(application.get(ENDPOINT + "/denied" + query), 400, reason);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					?identifier=ip:203.0.113.7&policy=nope | Invalid policy (nope): must be one of [Application.search, api, each-path, login, series].
					?policy=api                          | Invalid identifier: must be given, such as ip:203.0.113.7.
					?identifier=alice                    | Invalid identifier (alice): must be global or type:value, where the type is one of [global, header:X-User, ip, ip+path].
					?identifier=user:alice               | Invalid identifier (user:alice): must be global or type:value, where the type is one of [global, header:X-User, ip, ip+path].
					?identifier=header:X-User:a&policy=Application.search | Invalid identifier (header:X-User:a): the policy 'Application.search' counts by ip.
					?identifier=global                   | Invalid identifier (global:): no policy counts by global.
					""")
	void wrongQuestionIsAnsweredWithReason(String query, String reason) {
		assertRefused(application.get(ENDPOINT + "/counts" + query), 400, reason);
		assertRefused(application.delete(ENDPOINT + "/counts" + query), 400, reason);
	}

	@Test
	void pageBeforeATimeIsOfOnePolicy() {
		assertRefused(application.get(ENDPOINT + "/counts?identifier=header:X-User:many&before=2026-01-01T12:00:00Z"),
				400, "A page before some time is one of a policy: name it.");
		assertRefused(
				application
					.get(ENDPOINT + "/counts?policy=series&identifier=header:X-User:many&before=2026-01-01T12:00:00Z"),
				400, "Invalid before (2026-01-01T12:00:00Z): the policy 'series' keeps no log of requests.");
		assertRefused(application.get(ENDPOINT + "/denied?before=2026-01-01T12:00:00Z"), 400,
				"Only counts have pages before some time.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "yesterday", "2026-01-01", "1767225600" })
	void wrongEndOfAPageIsAnsweredWithReason(String before) {
		assertRefused(application.get(ENDPOINT + "/counts?policy=api&identifier=header:X-User:many&before=" + before),
				400, "Invalid before (%s): must be the time of a request, such as 2026-01-01T12:00:00.123456Z."
					.formatted(before));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					"time":"soon"     | Invalid time (soon): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":3600       | Invalid time (3600): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":"99999999999999999d" | Invalid time (99999999999999999d): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"reason":"x"      | Invalid time (null): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":"-1h"      | Invalid time (PT-1H): must be from 1ms to 3650d.
					"time":"1h","policy":"nope" | Invalid policy (nope): must be one of [Application.search, api, each-path, login, series].
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
	void nothingIsExposedByDefaultAndStoreFailureIsTold() {
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
