package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The playground in a real browser, against the application with a Redis of its own. Runs
 * with {@code -Pbrowser}.
 */
class PlaygroundIT extends InBrowser {

	private static final Pattern OF_LEASES = Pattern.compile(
			"(\\d+) allowed, 0 denied(?:, (\\d+) without an answer)?, (\\d+) decided by Redis, (\\d+) from a lease");

	private static final int DESKTOP = 1280;

	@BeforeEach
	void redisRuns() throws IOException {
		RedisServer redis = playground.bean(RedisServer.class);
		if (!redis.isActive()) {
			redis.start();
		}
	}

	@Test
	void slidersHaveNamesAndChartsTimesAndPoliciesLimits() {
		open();
		assertThat(browser.findAll("input[type=range]").stream().map(WebElement::getAccessibleName))
			.containsExactly("Rate", "Burst size", "Cost", "Clients");
		assertThat(browser.find("#rate").getDomAttribute("aria-valuetext")).isEqualTo(browser.text("#rate-text"))
			.endsWith("/s");
		await(() -> assertThat(browser.findAll(".lane .time")).hasSize(Algorithms.all().size()));
		assertThat(browser.text(".lane .time")).matches("30 s ago.*now");
		assertThat(browser.findAll(".chart .time")).hasSameSizeAs(browser.findAll(".chart"));
		assertThat(browser.text(".chart .time")).matches("3 min ago.*now");
		await(() -> assertThat(browser.text("#policies")).contains("more-concurrent"));
		assertThat(browser.findAll("#policies tbody tr td:nth-child(2)").stream().map(WebElement::getText))
			.doesNotContain("")
			.contains("3 at once");
	}

	/** Opens the page, and waits until it works. */
	private static void open() {
		browser.open(playground.url(), DESKTOP, false);
		await(() -> assertThat(browser.text("#preset-text")).isNotEmpty());
	}

	@ParameterizedTest
	@ValueSource(strings = { "burst", "clients" })
	void racesCountWhatServerCounts(String preset) {
		open();
		// Not earlier: the page of the test before may still have sent something.
		Map<String, Long> before = decisions();
		browser.click("[data-preset=" + preset + "]");
		browser.click("#race-start");
		await(() -> assertThat(shown("sliding-log", "denied")).isPositive());
		browser.click("#race-start");
		int sent = Integer.parseInt(browser.text("#race-status").replaceAll("\\D", ""));
		for (Algorithm algorithm : Algorithms.all()) {
			String name = algorithm.name();
			await(() -> assertThat(shown(name, "allowed") + shown(name, "denied")).as(name).isEqualTo(sent));
			assertThat(List.of(shown(name, "allowed"), shown(name, "denied"))).as(name)
				.isEqualTo(List.of(since(before, name, "allowed"), since(before, name, "denied")));
			assertThat(shown(name, "failed")).as(name).isZero();
			assertThat(shown(name, "local")).as(name).isZero();
		}
		assertThat(browser.text("[data-algorithm=sliding-log] .extremes")).isEqualTo("most 5, bound 5");
		assertThat(browser.text("[data-algorithm=sliding-log] .headers")).containsPattern("RateLimit: .*;r=\\d;t=\\d");
		assertThat(browser.errors()).isEmpty();
	}

	@Test
	void costIsThatOfSlider() {
		open();
		browser.click("[data-preset=burst]");
		browser.run("""
				const slider = document.getElementById('cost');
				slider.value = 2;
				slider.dispatchEvent(new Event('input'));""");
		browser.click("#race-start");
		await(() -> assertThat(shown("sliding-log", "denied")).isEqualTo(6));
		browser.click("#race-start");
		assertThat(shown("sliding-log", "allowed")).isEqualTo(2);
		assertThat(browser.text("[data-algorithm=sliding-log] .admitted")).isEqualTo("4 of 5 in the last 10 s");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void laneShowsRedisKeyAndCommandByKeyboard(boolean known) throws IOException {
		browser.open(playground.url(), DESKTOP, false);
		await(() -> assertThat(browser.findAll(".lane")).isNotEmpty());
		WebElement lane = browser.find("[data-algorithm=token-bucket] .lane-open");
		if (!known) {
			forgetScripts();
		}
		lane.sendKeys(Keys.ENTER);
		await(() -> assertThat(browser.text("[data-algorithm=token-bucket] .command"))
			.startsWith(known ? "\"EVAL" : "\"EVAL\" \"…\" \"2\"")
			.contains("demo-token-bucket", "\n    \"TIME\"", "\n    \"SET\""));
		await(() -> assertThat(browser.text("[data-algorithm=token-bucket] .inside tbody"))
			.containsPattern("ratelimit-sample-app:\\{header%3AX-Client:race-\\w+-1}:demo-token-bucket:tb-10s\\d+"));
		assertThat(browser.focused()).isEqualTo(lane);
		assertThat(lane.getDomAttribute("aria-expanded")).isEqualTo("true");
		assertThat(browser.inaccessible()).isEmpty();
		lane.sendKeys(Keys.ENTER);
		assertThat(lane.getDomAttribute("aria-expanded")).isEqualTo("false");
		assertThat(browser.errors()).isEmpty();
	}

	@Test
	void laneSaysThatStoppedRedisDoesNotAnswer() {
		browser.open(playground.url(), DESKTOP, false);
		await(() -> assertThat(browser.text("#redis-status")).isEqualTo("Redis is running."));
		browser.click("[data-algorithm=token-bucket] .lane-open");
		String keys = "[data-algorithm=token-bucket] .inside tbody";
		await(() -> assertThat(browser.text(keys)).contains("demo-token-bucket"));
		browser.click("#redis-stop");
		await(() -> assertThat(browser.text(keys)).isEqualTo("Redis does not answer."));
		browser.click("#redis-start");
		await(() -> assertThat(browser.text(keys)).isEqualTo("Nothing: no request counts now."));
		assertThat(browser.errors()).isEmpty();
	}

	@Test
	void policiesDoAsTheySayWhileRedisIsStopped() throws IOException {
		browser.open(playground.url(), DESKTOP, true);
		await(() -> assertThat(browser.text("#redis-status")).isEqualTo("Redis is running."));
		browser.click("[data-preset=clients]");
		browser.click("#race-start");
		browser.click("#outage-send");
		for (String mode : List.of("local", "allow", "deny")) {
			await(() -> assertThat(browser.findAll(tile(mode, "denied"))).hasSizeGreaterThan(1));
		}
		browser.click("#redis-stop");
		await(() -> assertThat(browser.text("#redis-status")).isEqualTo("Redis is stopped."));
		await(() -> assertThat(browser.findAll(tile("deny", "failed"))).hasSizeGreaterThan(5));
		assertThat(browser.findAll(tile("local", "failed"))).isEmpty();
		assertThat(browser.findAll(tile("allow", "failed"))).isEmpty();
		await(() -> assertThat(browser.text("#health")).isEqualTo("Redis: unreachable"));
		assertThat(browser.inaccessible()).isEmpty();
		browser.click("#redis-start");
		await(() -> assertThat(browser.text("#health")).isEqualTo("Redis: reachable"));
		await(() -> assertThat(browser.text("[data-mode=deny] .last")).startsWith("200"));
		assertThat(browser.errors()).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "1280, false", "1280, true", "390, false", "390, true" })
	void pageWithMostDeniedIsAccessibleOnEveryScreen(int width, boolean dark) throws IOException {
		browser.open(playground.url(), width, dark);
		await(() -> assertThat(browser.findAll(".lane")).hasSize(Algorithms.all().size()));
		await(() -> assertThat(browser.findAll("#policies tbody tr")).hasSizeGreaterThan(10));
		browser.run("""
				const long = 'x'.repeat(200);
				for (let i = 0; i < 30; i++) {
					fetch('/demo/sliding-log', { headers: { 'X-Client': 'offender' } });
					fetch('/demo/fixed-window', { headers: { 'X-Client': long } });
				}""");
		String offender = "#denied li:has(b)";
		await(() -> assertThat(browser.findAll(offender)).hasSizeGreaterThan(1));
		await(() -> assertThat(browser.text("#denied")).contains("header:X-Client:offender demo-sliding-log")
			.containsPattern("X-Client:x{200} demo-fixed-window"));
		assertThat(browser.text(offender + " .times")).matches("\\d+ denied");
		assertThat(browser.findAll(offender + ":first-child .minutes rect:not(.ground)")).hasSize(5);
		assertThat((Number) browser.run("""
				return Math.max(...[...document.querySelectorAll('#denied .minutes rect')]
					.map((bar) => bar.getBoundingClientRect().height));""")).extracting(Number::doubleValue)
			.isEqualTo(24.0);
		assertThat(browser.run("return document.documentElement.scrollWidth")).isEqualTo((long) width);
		assertThat(browser.inaccessible()).isEmpty();
		assertThat(browser.errors()).isEmpty();
	}

	@Test
	void instancesShareQuotaWhosePolicyChangesByKeyboard() throws IOException {
		open();
		await(() -> assertThat(browser.text("#shared-yaml")).contains("limits: "));
		browser.click("#shared-second");
		await(() -> assertThat(browser.text("#shared-second-status")).isEqualTo("Both count in the same Redis."));
		WebElement algorithm = browser.find("#shared-algorithm");
		assertThat(algorithm.getAccessibleName()).isEqualTo("Algorithm");
		algorithm.sendKeys("sliding-log");
		assertThat(browser.text("#shared-take")).contains("Take it ");
		change("5/d", "Changed.");
		assertThat(browser.text("#shared-yaml")).contains("limits: 5/d\n", "algorithm: sliding-log");
		browser.click("#shared-send");
		await(() -> assertThat(sharedCounts("denied")).hasSize(2).doesNotContain(0));
		assertThat(sharedCounts("allowed").stream().mapToInt(Integer::intValue).sum()).isEqualTo(5);
		change("7/d", "Changed.");
		await(() -> assertThat(sharedCounts("allowed").stream().mapToInt(Integer::intValue).sum()).isEqualTo(7));
		assertThat(browser.text("#shared-together")).startsWith("Admitted by both together: ")
			.endsWith("where the quota is 7. In no window sliding-log admits more than 7.");
		change("often", "Invalid limit (often): ");
		browser.click("#shared-send");
		assertThat(browser.inaccessible()).isEmpty();
		browser.click("#shared-second");
		await(() -> assertThat(browser.text("#shared-second")).isEqualTo("Start a second instance"));
		assertThat(sharedCounts("allowed")).hasSize(1);
		assertThat(browser.errors()).isEmpty();
	}

	private static void change(String limit, String status) {
		WebElement field = browser.find("#shared-limit");
		assertThat(field.getAccessibleName()).isEqualTo("Limit");
		browser.run("document.getElementById('shared-status').textContent = ''");
		field.sendKeys(Keys.chord(Keys.CONTROL, "a"), limit, Keys.ENTER);
		await(() -> assertThat(browser.text("#shared-status")).startsWith(status));
	}

	/** Returns how many requests each instance allowed, or denied. */
	private static List<Integer> sharedCounts(String outcome) {
		return Pattern.compile("(\\d+) " + outcome)
			.matcher(browser.text("#shared-tiles"))
			.results()
			.map((count) -> Integer.valueOf(count.group(1)))
			.toList();
	}

	@Test
	void trialsShowWhatPoliciesCanDoBesidesCounting() throws IOException {
		browser.open(playground.url(), DESKTOP, false);
		await(() -> assertThat(browser.findAll("[data-trial]")).hasSize(6));
		browser.click("[data-trial=plans] .primary");
		await(() -> assertThat(browser.text("[data-trial=plans] .last")).startsWith("free: 3 allowed, 9 denied"));
		browser.click("[data-trial=plans] .primary + .primary");
		await(() -> assertThat(browser.text("[data-trial=plans] .last")).startsWith("pro: 10 allowed, 2 denied"));
		browser.click("[data-trial=shadow] .primary");
		await(() -> assertThat(browser.text("[data-trial=shadow] .last"))
			.isEqualTo("8 allowed, 0 denied, 5 would be denied"));
		for (String[] step : new String[][] { { "Block", "Blocked." }, { "Send a request", "0 allowed, 1 denied, " },
				{ "Unblock", "Unblocked." }, { "Send a request", "1 allowed, 0 denied" } }) {
			browser.click("[aria-label='Blocks: %s']".formatted(step[0]));
			await(() -> assertThat(browser.text("[data-trial=block] .last")).startsWith(step[1]));
		}
		browser.click("[data-trial=concurrent] .primary");
		await(() -> assertThat(browser.text("[data-trial=concurrent] .last")).startsWith("3 allowed, 3 denied"));
		browser.click("[data-trial=penalty] .primary");
		assertThat(browser.text("[data-trial=penalty] .last")).isEqualTo("Sending…");
		await(() -> assertThat(browser.text("[data-trial=penalty] .last"))
			.matches("3 allowed, 12 denied, retry after (1\\d|20) s"));
		browser.click("[data-trial=lease] .primary");
		await(() -> assertThat(browser.text("[data-trial=lease] .last")).matches(OF_LEASES));
		Matcher result = OF_LEASES.matcher(browser.text("[data-trial=lease] .last"));
		assertThat(result.matches()).isTrue();
		int allowed = Integer.parseInt(result.group(1));
		assertThat(600 - allowed).isEqualTo((result.group(2) != null) ? Integer.parseInt(result.group(2)) : 0)
			.isLessThanOrEqualTo((int) browser.givenUp());
		assertThat(Integer.parseInt(result.group(3)) + Integer.parseInt(result.group(4))).isBetween(allowed, 600);
		assertThat(Integer.parseInt(result.group(4))).isGreaterThan(300);
		assertThat(browser.inaccessible()).isEmpty();
		assertThat(browser.errors()).isEmpty();
	}

	@Test
	void everyExampleIsAnsweredAlsoAcrossOrigins() throws IOException {
		browser.open(playground.url(), DESKTOP, false);
		await(() -> assertThat(browser.findAll(".example")).hasSizeGreaterThan(5));
		for (WebElement example : browser.findAll(".example .primary")) {
			browser.run("arguments[0].click()", example);
		}
		await(() -> assertThat(browser.text("#examples")).doesNotContain("The answer appears here."));
		assertThat(browser.text("#examples")).doesNotContain("No answer");
		assertThat(browser.findAll(":is(.example, [data-trial], [data-mode]) .yaml"))
			.hasSameSizeAs(browser.findAll(".example, [data-trial], [data-mode]"))
			.allSatisfy((settings) -> assertThat(
					settings.getText().lines().map((line) -> line.strip().replaceAll(" +", " ")))
				.isNotEmpty()
				.allSatisfy((line) -> assertThat(sources()).contains(line)));
		assertThat(browser.text("[data-path='/demo/token-bucket'] .curl")).contains("'http://127.0.0.1:");
		assertThat(browser.text("[data-path='/demo/token-bucket'] .answer"))
			.startsWith("Answers: 200 200 200 200 200 429.")
			.contains("ratelimit: \"demo-token-bucket\";r=0;t=", "retry-after: ", "quota-exceeded");
		assertThat(browser.text("[data-path='/report?rows=700'] .answer")).contains("will be sent to you");
		assertThat(browser.text("[data-path='/login'] .answer")).startsWith("Answers: 401 401 401 401 401 429.");
		assertThat(browser.text("[data-path='/quote'] .answer")).startsWith("Answers: 200 200 200 429.");
		assertThat(browser.inaccessible()).isEmpty();
		assertThat(browser.errors()).isEmpty();
	}

	/** Returns what the examples show, with one space for several. */
	private static String sources() throws IOException {
		StringBuilder sources = new StringBuilder();
		try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
			for (Path file : files.filter((each) -> each.toString().matches(".*\\.(java|yml)")).toList()) {
				sources.append(Files.readString(file));
			}
		}
		return sources.toString().replaceAll(" +", " ");
	}

	private static String tile(String mode, String outcome) {
		return "[data-mode=%s] .mark.%s".formatted(mode, outcome);
	}

	private static long shown(String algorithm, String outcome) {
		return Long.parseLong(browser.text("[data-algorithm=%s] [data-count=%s]".formatted(algorithm, outcome)));
	}

	private static long since(Map<String, Long> before, String algorithm, String outcome) {
		String meter = "demo-" + algorithm + " " + outcome;
		return decisions().get(meter) - before.get(meter);
	}

	private static void forgetScripts() {
		try (UnifiedJedis jedis = RedisClient.create("localhost", playground.bean(RedisServer.class).ports().get(0))) {
			jedis.scriptFlush();
		}
	}

	private static Map<String, Long> decisions() {
		return playground.bean(MeterRegistry.class)
			.find("ratelimit.decisions")
			.timers()
			.stream()
			.collect(Collectors.groupingBy(
					(timer) -> timer.getId().getTag("policy") + " " + timer.getId().getTag("outcome"),
					Collectors.summingLong(Timer::count)));
	}

	private static void await(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(40)).untilAsserted(assertion);
	}

}
