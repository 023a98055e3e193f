package io.github.ratelimit.spring.actuate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

import io.github.ratelimit.test.TestRedis;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The table of meters in the documentation: it names all of them, with their types and
 * tags, and nothing else.
 */
class DocumentedMetricsIT {

	private static final Pattern ROW = Pattern
		.compile("(?m)^\\| `(ratelimit\\.[a-z.-]+)` \\(([a-z ]+)\\) \\| (.*?)\\|");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	@Test
	void documentedMetersAreThoseOfAnApplication() throws IOException {
		try (ActuatorApplication application = ActuatorApplication.start("ratelimit.redis.url=" + TestRedis.uri(),
				"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(), "ratelimit.policies.api.penalty.after=9",
				"ratelimit.policies.api.penalty.within=1m", "ratelimit.policies.api.penalty.block=1m")) {
			assertThat(IntStream.range(0, 20).anyMatch((i) -> application.get("/api").status() == 429)).isTrue();
			MeterRegistry registry = application.bean(MeterRegistry.class);
			Map<String, String> meters = registry.getMeters()
				.stream()
				.filter((meter) -> meter.getId().getName().startsWith("ratelimit."))
				.collect(Collectors.toMap((meter) -> meter.getId().getName(), DocumentedMetricsIT::text,
						(one, other) -> one, TreeMap::new));
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
