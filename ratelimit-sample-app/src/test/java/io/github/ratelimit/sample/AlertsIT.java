package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The alert rules and the dashboard in a real Prometheus, while the application is used
 * and its Redis fails. Periods of the rules are shorter, so that it takes a minute.
 */
@Tag("prometheus")
class AlertsIT {

	/** By so much are periods shorter: ten minutes are five seconds. */
	private static final int FASTER = 120;

	private static final Pattern PERIOD = Pattern.compile("(\\[|offset |for: )(\\d+)([mhd])");

	private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

	private static final Duration SOON = Duration.ofMinutes(1);

	/** That there was something to compare denials with. */
	private static final String USUAL = "ratelimit:denied:ratio_rate1d{policy=\"demo-fixed-window\"}";

	/** Fire whenever the machine is slow, and so may fire at any time. */
	private static final Set<String> OF_MACHINE = Set.of("RatelimitDecisionsSlow", "RatelimitSlowestDecisions");

	/** Limited by address, by client, and with each {@code on-store-failure}. */
	private static final List<String> PATHS = List.of("demo/fixed-window", "more/penalty", "outage/deny",
			"playground/svg.js");

	private static final String[] DENIALS = { "RatelimitDenialsUnusual demo-fixed-window",
			"RatelimitDenialsUnusual more-penalty", "RatelimitDenialsUnusual outage-deny",
			"RatelimitPenalties more-penalty", "RatelimitShadowDenials trial" };

	private static final String[] LOAD = { "RatelimitStoreBusy", "RatelimitQueueFull",
			"RatelimitRequestsRefused outage-deny" };

	private static final String[] FULL = { "RatelimitStoreFailing", "RatelimitStoreErrors oom",
			"RatelimitRequestsRefused outage-deny" };

	private static final String[] GONE = { "RatelimitStoreFailing", "RatelimitBreakerOpen",
			"RatelimitStoreErrors connection", "RatelimitRequestsRefused outage-deny" };

	private static final int PARALLEL = 20;

	@AutoClose("shutdownNow")
	private final ScheduledExecutorService clients = Executors.newScheduledThreadPool(PARALLEL + 1);

	private final Set<String> fired = new HashSet<>();

	private volatile int active = 1;

	/** Who sends requests; {@code null} if each comes from another client. */
	private volatile @Nullable String client;

	@Test
	void rulesFireForTheSeriesOfTheirTests() throws Exception {
		Prometheus.tool("check", "config", MonitoringQuery.FOLDER.resolve("prometheus.yml").toString());
		Prometheus.tool("test", "rules", MonitoringQuery.FOLDER.resolve("alerts-test.yml").toString());
	}

	@Test
	void alertsFireInTheirCasesAndOnlyThen(@TempDir Path folder) throws Exception {
		try (Playground playground = new Playground("--ratelimit.redis.max-waiting=4",
				"--ratelimit.policies.trial.paths=/playground/**", "--ratelimit.policies.trial.limits=1/h",
				"--ratelimit.policies.trial.mode=shadow", "--ratelimit.policies.trial.identifiers=header:X-Client",
				"--management.metrics.distribution.slo.ratelimit.store=10ms,100ms");
				Prometheus prometheus = new Prometheus(folder, playground.port(), rules());
				UnifiedJedis redis = playground.redis()) {
			RedisServer server = playground.bean(RedisServer.class);
			send(playground);
			await().atMost(SOON).until(() -> prometheus.values(USUAL).count() == 1);
			assertNoneFires(prometheus);

			this.client = "often";
			assertFire(prometheus, DENIALS);
			for (MonitoringQuery query : MonitoringQuery.ofDashboard()) {
				assertThat(prometheus.values(withVariables(query)).count()).as(query.expression()).isPositive();
			}
			this.client = null;
			assertNoneFires(prometheus, DENIALS);

			Future<?> pauses = this.clients.scheduleAtFixedRate(
					() -> redis.executeCommand(new CommandArguments(Protocol.Command.CLIENT).add("PAUSE").add(1000)), 0,
					1500, TimeUnit.MILLISECONDS);
			assertFire(prometheus, OF_MACHINE.toArray(String[]::new));
			this.active = PARALLEL;
			assertFire(prometheus, LOAD);
			pauses.cancel(false);
			this.active = 1;
			assertNoneFires(prometheus, LOAD);

			redis.configSet("maxmemory", "1");
			assertFire(prometheus, FULL);
			redis.configSet("maxmemory", "0");
			assertNoneFires(prometheus, FULL);

			server.stop();
			assertFire(prometheus, GONE);
			server.start();
			assertNoneFires(prometheus, GONE);
			assertThat(this.fired).containsAll(alerts());
		}
	}

	/** Waits until all these alerts fire. */
	private void assertFire(Prometheus prometheus, String... alerts) {
		awaitAlerts(prometheus, (firing) -> firing.containsAll(Set.of(alerts)), alerts);
	}

	/** Waits until no alert fires, of those that did before. */
	private void assertNoneFires(Prometheus prometheus, String... before) {
		awaitAlerts(prometheus, OF_MACHINE::containsAll, before);
	}

	/** Fails if another alert fires than those that are expected. */
	private void awaitAlerts(Prometheus prometheus, Predicate<Set<String>> condition, String... expected) {
		Set<String> possible = new HashSet<>(OF_MACHINE);
		possible.addAll(List.of(expected));
		await().atMost(SOON).pollInterval(Duration.ofMillis(250)).until(() -> {
			Set<String> firing = prometheus.firing();
			assertThat(possible).containsAll(firing);
			firing.forEach((alert) -> this.fired.add(alert.split(" ")[0]));
			return condition.test(firing);
		});
	}

	private void send(Playground playground) {
		for (int i = 0; i < PARALLEL; i++) {
			int number = i;
			this.clients.scheduleWithFixedDelay(() -> {
				for (String path : (number < this.active) ? PATHS : List.<String>of()) {
					String name = (this.client != null) ? this.client : UUID.randomUUID().toString();
					playground.status("GET " + path, "X-Client", name);
				}
			}, 0, 50, TimeUnit.MILLISECONDS);
		}
	}

	/** The query with values for the variables of the dashboard. */
	private static String withVariables(MonitoringQuery query) {
		return query.expression().replace("$__rate_interval", "5s").replaceAll("\\$[a-z]+", ".*");
	}

	private static List<String> alerts() throws IOException {
		return ALERT.matcher(Files.readString(MonitoringQuery.ALERTS))
			.results()
			.map((alert) -> alert.group(1))
			.toList();
	}

	private static String rules() throws IOException {
		return PERIOD.matcher(Files.readString(MonitoringQuery.ALERTS)).replaceAll((period) -> {
			int minutes = Integer.parseInt(period.group(2)) * Map.of("m", 1, "h", 60, "d", 1440).get(period.group(3));
			return "%s%dms".formatted(period.group(1), minutes * 60_000 / FASTER);
		});
	}

}
