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
				"ratelimit.policies.each-path.identifiers=ip+path", "ratelimit.policies.calls.limits=9/d",
				"ratelimit.policies.calls.identifiers=header:X-Calls", "ratelimit.policies.calls.concurrent=4",
				"ratelimit.policies.only.concurrent=2", "ratelimit.policies.only.identifiers=header:X-Calls",
				"ratelimit.policies.leased.limits=100/m", "ratelimit.policies.leased.algorithm=fixed-window",
				"ratelimit.policies.leased.identifiers=header:X-Calls", "ratelimit.policies.leased.lease=1s",
				"ratelimit.policies.leased.penalty.after=20", "ratelimit.policies.leased.penalty.within=1m",
				"ratelimit.policies.leased.penalty.block=15m", "ratelimit.policies.leased.penalty.up-to=1d",
				"ratelimit.policies.strict.limits=100/m", "ratelimit.policies.strict.identifiers=header:X-Calls",
				"ratelimit.policies.strict.penalty.after=1", "ratelimit.policies.strict.penalty.within=1m",
				"ratelimit.policies.strict.penalty.block=15m", "ratelimit.policies.strict.penalty.mode=shadow");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void policiesAreShown() {
		JsonNode policies = json("").path("policies");
		assertThat(policies.propertyNames()).containsExactly("Application.search", "api", "calls", "each-path",
				"leased", "login", "only", "series", "strict");
		assertThat(policies.path("api"))
			.hasToString("{\"enabled\":true,\"algorithm\":\"sliding-log\",\"limits\":[\"3/d\",\"5/2d\"],"
					+ "\"identifiers\":[\"ip\",\"header:X-User\"],\"countDenied\":false,\"mode\":\"enforce\","
					+ "\"onStoreFailure\":\"local\"}");
		assertThat(policies.at("/series/mode").stringValue()).isEqualTo("shadow");
		assertThat(policies.at("/login/onStoreFailure").stringValue()).isEqualTo("deny");
		assertThat(policies.at("/Application.search/limits")).hasToString("[\"1/d\"]");
		assertThat(policies.at("/calls/concurrent").longValue()).isEqualTo(4);
		assertThat(policies.at("/only/concurrent").longValue()).isEqualTo(2);
		assertThat(policies.at("/only/limits")).hasToString("[]");
		assertThat(policies.at("/leased/lease").stringValue()).isEqualTo("PT1S");
		assertThat(policies.at("/leased/penalty")).hasToString(
				"{\"after\":20,\"within\":\"PT1M\",\"block\":\"PT15M\",\"upTo\":\"PT24H\",\"mode\":\"enforce\"}");
		assertThat(policies.at("/strict/penalty/mode").stringValue()).isEqualTo("shadow");
		assertThat(json("").path("methods")).hasToString("[{\"method\":\"Application.search\","
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
		JsonNode counts = json("/counts" + query).path("counts");
		assertThat(counts).hasSize(1);
		assertThat(counts.at("/0/identifier").stringValue()).isEqualTo("header:X-User:" + user);
		assertThat(counts.at("/0/allowed").booleanValue()).isFalse();
		assertThat(counts.at("/0/blockedFor").stringValue()).startsWith("PT59M");
		assertThat(application.delete(ENDPOINT + "/blocks" + query).status()).isEqualTo(200);
		assertThat(json("/counts" + query).at("/counts/0/allowed").booleanValue()).isTrue();
	}

	@Test
	void countsAreShownAndReset() {
		application.get("/api", "X-User", "counted");
		application.get("/api", "X-User", "counted");
		String query = "?policy=api&identifier=header:X-User:counted";
		JsonNode counts = json("/counts" + query).at("/counts/0");
		assertThat(counts.path("policy").stringValue()).isEqualTo("api");
		assertThat(counts.at("/limits/0/limit").stringValue()).isEqualTo("3/d");
		assertThat(counts.at("/limits/0/remaining").longValue()).isEqualTo(1);
		assertThat(counts.at("/limits/1/remaining").longValue()).isEqualTo(3);
		assertThat(counts.at("/limits/0/resetAfter").stringValue()).startsWith("PT23H59M");
		assertThat(counts.at("/limits/0/retryAfter").stringValue()).isEqualTo("PT0S");
		assertThat(counts.path("requests")).hasSize(2);
		assertThat(counts.at("/requests/0/cost").longValue()).isEqualTo(1);
		assertThat(counts.has("windows")).isFalse();
		assertThat(application.delete(ENDPOINT + "/counts" + query).json()).hasToString("{\"reset\":[\"api\"]}");
		assertThat(remaining(query, 0)).isEqualTo(3);
	}

	@Test
	void concurrentCallsAreShownAndReset() {
		Policy calls = application.bean(ConfiguredPolicies.class).find("calls").orElseThrow().concurrent();
		application.bean(RateLimiter.class)
			.tryAcquire(RateLimitRequest.of(calls, new Identifier("header:X-Calls", "running")).withCall(1));
		String query = "?policy=calls&identifier=header:X-Calls:running";
		JsonNode counts = json("/counts" + query).path("counts");
		assertThat(counts).extracting((each) -> each.path("policy").stringValue())
			.containsExactly("calls", "calls (at once)");
		assertThat(counts.at("/1/limits/0/limit").stringValue()).isEqualTo("4 concurrent");
		assertThat(remaining(query, 1)).isEqualTo(3);
		application.delete(ENDPOINT + "/counts" + query);
		assertThat(remaining(query, 1)).isEqualTo(4);
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
		JsonNode newest = json(query).at("/counts/0/requests");
		assertThat(newest).hasSize(100).allSatisfy((entry) -> assertThat(entry.path("cost").longValue()).isOne());
		String before = newest.get(99).path("time").stringValue();
		JsonNode next = json(query + "&before=" + before).path("counts").get(0);
		assertThat(next.path("requests")).singleElement()
			.satisfies((entry) -> assertThat(entry.path("cost").longValue()).isEqualTo(2));
		assertThat(next.at("/limits/0/limit").stringValue()).isEqualTo("3/d");
		String first = next.at("/requests/0/time").stringValue();
		assertThat(json(query + "&before=" + first).at("/counts/0/requests")).isEmpty();
	}

	@Test
	void policiesThatCountIdentifierAreShownAndUseNothing() {
		for (int i = 0; i < 5; i++) {
			assertThat(json("/counts?identifier=header:X-User:looked").path("counts")).hasSize(3)
				.allSatisfy((each) -> assertThat(each.path("allowed").booleanValue()).isTrue());
		}
		assertThat(json("/counts?identifier=ip:203.0.113.7").path("counts"))
			.extracting((counts) -> counts.path("policy").stringValue())
			.containsExactly("Application.search", "api", "login");
		JsonNode series = json("/counts?identifier=header:X-User:any&policy=series");
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
		assertThat(json("/blocks").path("blocks")).containsExactly(block.json());
		assertThat(application.delete(ENDPOINT + query).status()).isEqualTo(200);
		assertThat(application.delete(ENDPOINT + query).status()).isEqualTo(404);
		assertThat(json("/blocks")).hasToString("{\"blocks\":[]}");
	}

	/** Denials are answered from memory after the first. */
	@Test
	void mostDeniedAreShown() {
		for (int i = 0; i < 4; i++) {
			application.get("/search", "X-Forwarded-For", "203.0.113.30");
		}
		String query = "/denied?size=1&policy=Application.search&identifier=ip:203.0.113.";
		JsonNode denied = json(query + "30").path("denied");
		assertThat(denied.at("/0/byMinute")).hasSize(5);
		assertThat(denied.toString())
			.startsWith("[{\"policy\":\"Application.search\",\"identifier\":\"ip:203.0.113.30\","
					+ "\"outcome\":\"denied\",\"requests\":3,");
		assertThat(json(query + "31")).hasToString("{\"denied\":[]}");
	}

	@ParameterizedTest
	@CsvSource({ "2001:db8:1::5, 2001:db8:1::7, 2001:db8:1::/64", "2001:DB8:2:0::/64, 2001:db8:2::1, 2001:db8:2::/64",
			"::ffff:203.0.113.20, 203.0.113.20, 203.0.113.20", "203.0.113.21/32, 203.0.113.21, 203.0.113.21" })
	void addressMeansTheClientThatIsCountedByIt(String written, String client, String counted) {
		assertThat(application.get("/api", "X-Forwarded-For", client).status()).isEqualTo(200);
		String query = "?policy=api&identifier=ip:" + written;
		assertThat(json("/counts" + query).at("/counts/0/identifier").stringValue()).isEqualTo("ip:" + counted);
		assertThat(remaining(query, 0)).isEqualTo(2);
		application.delete(ENDPOINT + "/counts" + query);
		assertThat(remaining(query, 0)).isEqualTo(3);
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
					/counts?identifier=ip:203.0.113.7&policy=nope | Invalid policy (nope): must be one of [Application.search, api, calls, each-path, leased, login, only, series, strict].
					/counts?policy=api             | Invalid identifier: must be given, such as ip:203.0.113.7.
					/counts?identifier=alice       | Invalid identifier (alice): must be global or type:value, where the type is one of [global, header:X-Calls, header:X-User, ip, ip+path].
					/counts?identifier=user:alice  | Invalid identifier (user:alice): must be global or type:value, where the type is one of [global, header:X-Calls, header:X-User, ip, ip+path].
					/counts?identifier=header:X-User:a&policy=Application.search | Invalid identifier (header:X-User:a): the policy 'Application.search' counts by ip.
					/counts?identifier=global      | Invalid identifier (global:): no policy counts by global.
					/counts?identifier=header:X-User:many&before=2026-01-01T12:00:00Z | A page before some time is one of a policy: name it.
					/counts?policy=series&identifier=header:X-User:many&before=2026-01-01T12:00:00Z | Invalid before (2026-01-01T12:00:00Z): the policy 'series' keeps no log of requests.
					/counts?policy=api&identifier=header:X-User:many&before= | Invalid before (): must be the time of a request, such as 2026-01-01T12:00:00.123456Z.
					/counts?policy=api&identifier=header:X-User:many&before=yesterday | Invalid before (yesterday): must be the time of a request, such as 2026-01-01T12:00:00.123456Z.
					/counts?policy=api&identifier=header:X-User:many&before=2026-01-01 | Invalid before (2026-01-01): must be the time of a request, such as 2026-01-01T12:00:00.123456Z.
					/counts?policy=api&identifier=header:X-User:many&before=1767225600 | Invalid before (1767225600): must be the time of a request, such as 2026-01-01T12:00:00.123456Z.
					/denied?before=2026-01-01T12:00:00Z | Only counts have pages before some time.
					/denied?size=0                 | Invalid size (0): must be from 1 to 100.
					/denied?size=101               | Invalid size (101): must be from 1 to 100.
					/denied?size=abc               | Invalid size (abc): must be from 1 to 100.
					/denied?size=99999999999       | Invalid size (99999999999): must be from 1 to 100.
					/denied?policy=nope            | Invalid policy (nope): must be one of [Application.search, api, calls, each-path, leased, login, only, series, strict].
					/denied?identifier=alice       | Invalid identifier (alice): must be global or type:value, where the type is one of [global, header:X-Calls, header:X-User, ip, ip+path].
					""")
	void wrongQuestionIsAnsweredWithReason(String query, String reason) {
		assertRefused(application.get(ENDPOINT + query), 400, reason);
		if (query.startsWith("/counts") && !query.contains("before")) {
			assertRefused(application.delete(ENDPOINT + query), 400, reason);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					"time":"soon"     | Invalid time (soon): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":3600       | Invalid time (3600): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":"99999999999999999d" | Invalid time (99999999999999999d): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"reason":"x"      | Invalid time (null): must be a number with its unit, such as 30s, 15m, 1h or 7d.
					"time":"-1h"      | Invalid time (PT-1H): must be from 1ms to 3650d.
					"time":"1h","policy":"nope" | Invalid policy (nope): must be one of [Application.search, api, calls, each-path, leased, login, only, series, strict].
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
		assertThat(json("/blocks")).hasToString("{\"blocks\":[]}");
	}

	@Test
	void onlyReadingIsThereByDefaultAndFailureIsTold() {
		int port = TestRedis.freePort();
		try (ActuatorApplication failing = ActuatorApplication.start("ratelimit.redis.url=redis://127.0.0.1:" + port,
				"management.endpoints.web.exposure.include=ratelimits")) {
			assertThat(failing.get(ENDPOINT).status()).isEqualTo(200);
			assertThat(
					failing.post(ENDPOINT + "/blocks", "{\"identifier\":\"ip:203.0.113.7\",\"time\":\"1h\"}").status())
				.isEqualTo(405);
			assertThat(failing.delete(ENDPOINT + "/counts?identifier=ip:203.0.113.7").status()).isEqualTo(405);
			assertThat(failing.delete(ENDPOINT + "/blocks?identifier=ip:203.0.113.7").status()).isEqualTo(405);
			Response refused = failing.get(ENDPOINT + "/counts?identifier=ip:203.0.113.7");
			assertRefused(refused, 503, "Redis failed to read counts");
			assertThat(refused.json().path("cause").stringValue()).contains("127.0.0.1:" + port)
				.endsWith("java.net.ConnectException: Connection refused");
		}
	}

	private static JsonNode json(String query) {
		return application.get(ENDPOINT + query).json();
	}

	/** Returns what remains of the first limit of a policy and its companions. */
	private static long remaining(String query, int policy) {
		return json("/counts" + query).at("/counts/" + policy + "/limits/0/remaining").longValue();
	}

	private static void assertRefused(Response response, int status, String reason) {
		assertThat(response.status()).isEqualTo(status);
		assertThat(response.json().path("error").stringValue()).isEqualTo(reason);
	}

}
