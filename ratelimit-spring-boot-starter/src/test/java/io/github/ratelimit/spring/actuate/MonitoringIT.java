package io.github.ratelimit.spring.actuate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.actuate.ActuatorApplication.Response;
import io.github.ratelimit.test.TestRedis;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What health and metrics say while Redis is there, gone, or full. The documentation
 * names all meters, with their types and tags, and no others.
 */
class MonitoringIT {

	private static final Pattern ROW = Pattern
		.compile("(?m)^\\| `(ratelimit\\.[a-z.-]+)` \\(([a-z ]+)\\) \\| (.*?)\\|");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	/** Much longer than any answer takes, and much shorter than for ever. */
	private static final Duration SOON = Duration.ofSeconds(10);

	@Test
	void healthFollowsTheStore() {
		try (OwnRedis redis = OwnRedis.started();
				ActuatorApplication application = start(redis.port());
				UnifiedJedis jedis = RedisClient.create("127.0.0.1", redis.port())) {
			Response healthy = application.get("/actuator/health");
			assertThat(ratelimit(healthy))
				.hasToString("{\"details\":{\"store\":\"reachable\",\"limits\":\"enforced\"},\"status\":\"UP\"}");
			application.get("/actuator/health");
			assertThat(jedis.dbSize()).as("what health has written").isZero();
			redis.stop();
			assertThat(application.get("/api").status()).isEqualTo(200);
			// Before, connections that were open may end without naming an address.
			await().atMost(SOON)
				.untilAsserted(() -> assertThat(
						ratelimit(application.get("/actuator/health")).path("details").path("cause").stringValue())
					.contains("127.0.0.1:" + redis.port())
					.endsWith("java.net.ConnectException: Connection refused"));
			Response failing = application.get("/actuator/health");
			assertThat(failing.json().path("status").stringValue()).isEqualTo("UP");
			JsonNode details = ratelimit(failing).path("details");
			assertThat(ratelimit(failing).path("status").stringValue()).isEqualTo("UNKNOWN");
			assertThat(details.path("store").stringValue()).isEqualTo("unreachable");
			assertThat(details.has("error")).isFalse();
			assertThat(details.path("since").stringValue()).isNotEmpty();
			assertThat(details.path("allowed")).hasToString("[\"series\"]");
			assertThat(details.path("denied")).hasToString("[\"login\"]");
			assertThat(details.path("limited-locally")).hasToString("[\"Application.search\",\"api\"]");
			assertThat(details.path("breaker").stringValue()).isEqualTo("open");
			assertThat(failingGauge(application)).isEqualTo(1);
			assertThat(application.get("/actuator/health/readiness").json().path("status").stringValue())
				.isEqualTo("UP");
			redis.start();
			await().atMost(SOON)
				.untilAsserted(() -> assertThat(ratelimit(application.get("/actuator/health")))
					.hasToString(ratelimit(healthy).toString()));
			assertThat(failingGauge(application)).isZero();
		}
	}

	@ParameterizedTest
	@CsvSource({ "1, readinessState, 200", "7, 'readinessState, ratelimit', 503" })
	void applicationWithoutTrafficIsUpAgainOnceRedisIs(int requestsInOutage, String readiness, int readinessInOutage) {
		try (OwnRedis redis = OwnRedis.started();
				ActuatorApplication application = start(redis.port(), "ratelimit.health.down-when-failing=true",
						"management.endpoint.health.group.readiness.include=" + readiness)) {
			assertThat(application.get("/actuator/health").status()).isEqualTo(200);
			redis.stop();
			for (int i = 0; i < requestsInOutage; i++) {
				assertThat(application.get("/api").status()).isIn(200, 429);
			}
			assertThat(application.get("/actuator/health").status()).isEqualTo(503);
			assertThat(application.get("/actuator/health/readiness").status()).isEqualTo(readinessInOutage);
			assertThat(application.get("/actuator/health/liveness").status()).isEqualTo(200);
			redis.start();
			await().atMost(SOON).until(() -> application.get("/actuator/health").status() == 200);
			assertThat(failingGauge(application)).isZero();
		}
	}

	@Test
	void readOnlyStoreFailsUntilItIsWritable() {
		try (OwnRedis redis = OwnRedis.started();
				ActuatorApplication application = start(redis.port(), "ratelimit.health.down-when-failing=true");
				UnifiedJedis jedis = RedisClient.create("127.0.0.1", redis.port())) {
			jedis.configSet("maxmemory", "1");
			application.get("/api");
			Response down = application.get("/actuator/health");
			assertThat(down.status()).isEqualTo(503);
			assertThat(ratelimit(down).at("/details/store").stringValue()).isEqualTo("reachable");
			assertThat(ratelimit(down).at("/details/limits").stringValue())
				.isEqualTo("the on-store-failure of each policy applies");
			assertThat(application.bean(MeterRegistry.class)
				.get("ratelimit.store.errors")
				.tag("kind", "oom")
				.counter()
				.count()).isPositive();
			assertThat(ratelimit(down).at("/details/cause").stringValue()).contains("OOM");
			jedis.configSet("maxmemory", "0");
			await().atMost(SOON.multipliedBy(3)).until(() -> application.get("/actuator/health").status() == 200);
			assertThat(failingGauge(application)).isZero();
		}
	}

	private static double failingGauge(ActuatorApplication application) {
		return application.bean(MeterRegistry.class).get("ratelimit.store.failing").gauge().value();
	}

	private static JsonNode ratelimit(Response response) {
		return response.json().path("components").path("ratelimit");
	}

	private static ActuatorApplication start(int port, String... properties) {
		List<String> all = new ArrayList<>(List.of(properties));
		all.addAll(List.of("management.endpoint.health.show-details=always",
				"management.endpoint.health.probes.enabled=true", "ratelimit.redis.url=redis://127.0.0.1:" + port));
		return ActuatorApplication.start(all.toArray(String[]::new));
	}

	@Test
	void documentedMetersAreThoseOfAnApplication() throws Exception {
		try (ActuatorApplication application = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(), "ratelimit.policies.api.penalty.after=9",
				"ratelimit.policies.api.penalty.within=1m", "ratelimit.policies.api.penalty.block=1m",
				"ratelimit.policies.partner.limits=5/s")) {
			application.bean(PolicyLimiter.class).acquire("partner", Identifier.ip("192.0.2.1"), Duration.ofSeconds(1));
			assertThat(IntStream.range(0, 20).anyMatch((i) -> application.get("/api").status() == 429)).isTrue();
			MeterRegistry registry = application.bean(MeterRegistry.class);
			Map<String, String> meters = registry.getMeters()
				.stream()
				.filter((meter) -> meter.getId().getName().startsWith("ratelimit."))
				.collect(Collectors.toMap((meter) -> meter.getId().getName(), MonitoringIT::text, (one, other) -> one,
						TreeMap::new));
			assertThat(meters).isEqualTo(documented());
			assertThat(registry.get("ratelimit.store.active").longTaskTimers())
				.allSatisfy((timer) -> assertThat(timer.getId().getTag("outcome")).isEqualTo("unknown"));
			// Spring counts denied requests without their path.
			await().untilAsserted(() -> assertThat(
					registry.get("http.server.requests").tags("uri", "UNKNOWN", "status", "429").timer().count())
				.isEqualTo(1));
			assertThat(registry.get("http.server.requests").tags("uri", "/api").timers())
				.allSatisfy((timer) -> assertThat(timer.getId().getTag("status")).isEqualTo("200"));
			assertThat(application.get("/actuator/ratelimits").status()).as("not exposed by default").isEqualTo(404);
		}
	}

	private static String text(Meter meter) {
		String type = switch (meter.getId().getType()) {
			case DISTRIBUTION_SUMMARY -> "summary";
			default -> meter.getId().getType().name().toLowerCase(Locale.ROOT).replace('_', ' ');
		};
		return type + " "
				+ meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toCollection(TreeSet::new));
	}

	private static Map<String, String> documented() throws IOException {
		String page = Files.readString(Path.of("..", "docs", "monitoring.md"));
		return ROW.matcher(page)
			.results()
			.collect(Collectors.toMap((row) -> row.group(1), (row) -> row.group(2) + " " + tags(row.group(3)),
					(one, other) -> one, TreeMap::new));
	}

	private static Set<String> tags(String cell) {
		Matcher codes = CODE.matcher(cell);
		return codes.results().map((MatchResult code) -> code.group(1)).collect(Collectors.toCollection(TreeSet::new));
	}

}
