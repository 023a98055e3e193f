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
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

/**
 * The playground in a real browser, against the application with a Redis of its own. Runs
 * with {@code -Pbrowser}.
 */
@Tag("browser")
class PlaygroundIT {

	@AutoClose
	private static final Playground playground = new Playground();

	@AutoClose
	private static final Browser browser = new Browser();

	private static final Pattern OF_LEASES = Pattern
		.compile("(\\d+) allowed, 0 denied(?:, \\d+ without an answer)?, (\\d+) decided by Redis, (\\d+) from a lease");

	/** Titles, buttons, and what is said then. */
	private static final String TRIALS = """
			Plans            | Send 12 as free   | free: 3 allowed, 9 denied, retry after \\d+ s
			Plans            | Send 12 as pro    | pro: 10 allowed, 2 denied, retry after \\d+ s
			Calendar months  | Send 6 requests   | 5 allowed, 1 denied, .* full until 1 \\w+ \\d+ at 00:00, Europe/Berlin
			Shadow mode      | Send 8 requests   | 8 allowed, 0 denied, 5 would be denied
			A success clears | Wrong password    | 401, wrong password. Left: 4 for this account from here, 99 .*
			A success clears | Wrong password    | 401, wrong password. Left: 3 for this account from here, 98 .*
			A success clears | Right password    | 200, welcome, .* Left: 5 for this account from here, 98 .*
			A success clears | Wrong password    | 401, wrong password. Left: 4 for this account from here, 97 .*
			Waiting          | Send 4 callers    | (Caller [123] may wait 10 s: allowed after [\\d.]+ s.\\n){3}\
			Caller 4 may wait 1 s: denied after [\\d.]+ s, retry after \\d s.
			Blocks           | Block             | Blocked.
			Blocks           | Send a request    | 0 allowed, 1 denied, retry after \\d+ s
			Blocks           | Unblock           | Unblocked.
			Blocks           | Send a request    | 1 allowed, 0 denied
			Concurrent calls | Send 6 requests   | 3 allowed, 3 denied, .*
			Penalties        | Send 15 requests  | 3 allowed, 12 denied, retry after (1\\d|20) s
			Leases           | Send 600 requests | \\d+ allowed, .*
			""";

	@BeforeEach
	void redisRuns() throws IOException {
		playground.bean(RedisServer.class).start();
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
		browser.open(playground.url(), 1280, false);
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
		browser.find("#cost").sendKeys(Keys.ARROW_RIGHT);
		browser.click("#race-start");
		await(() -> assertThat(shown("sliding-log", "denied")).isEqualTo(6));
		browser.click("#race-start");
		assertThat(shown("sliding-log", "allowed")).isEqualTo(2);
		assertThat(browser.text("[data-algorithm=sliding-log] .admitted")).isEqualTo("4 of 5 in the last 10 s");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void laneShowsRedisKeyAndCommandByKeyboard(boolean known) throws IOException {
		open();
		WebElement lane = browser.find("[data-algorithm=token-bucket] .lane-open");
		if (!known) {
			try (UnifiedJedis redis = playground.redis()) {
				redis.scriptFlush();
			}
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
	void policiesDoAsTheySayWhileRedisIsStopped() throws IOException {
		browser.open(playground.url(), 1280, true);
		await(() -> assertThat(browser.text("#redis-status")).isEqualTo("Redis is running."));
		browser.click("[data-algorithm=token-bucket] .lane-open");
		browser.click("[data-preset=clients]");
		browser.click("#race-start");
		browser.click("#outage-send");
		for (String mode : List.of("local", "allow", "deny")) {
			await(() -> assertThat(browser.findAll(tile(mode, "denied"))).hasSizeGreaterThan(1));
		}
		browser.click("#redis-stop");
		await(() -> assertThat(browser.text("#redis-status")).isEqualTo("Redis is stopped."));
		String keys = "[data-algorithm=token-bucket] .inside tbody";
		await(() -> assertThat(browser.text(keys)).isEqualTo("Redis does not answer."));
		browser.click("[aria-label='A success clears: Right password']");
		await(() -> assertThat(browser.text("[data-trial=login] .last"))
			.isEqualTo("503, nobody logs in while Redis is down."));
		await(() -> assertThat(browser.findAll(tile("deny", "failed"))).hasSizeGreaterThan(5));
		assertThat(browser.findAll(tile("local", "failed"))).isEmpty();
		assertThat(browser.findAll(tile("allow", "failed"))).isEmpty();
		await(() -> assertThat(browser.text("#health")).isEqualTo("Redis: unreachable"));
		assertThat(browser.inaccessible()).isEmpty();
		browser.click("#redis-start");
		await(() -> assertThat(browser.text("#health")).isEqualTo("Redis: reachable"));
		await(() -> assertThat(browser.text("[data-mode=deny] .last")).startsWith("200"));
		await(() -> assertThat(browser.text(keys)).contains("demo-token-bucket"));
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
		browser.find("#shared-switch").sendKeys(Keys.ENTER);
		await(() -> assertThat(browser.text("#shared-yaml")).contains("\n  enabled: false\n"));
		await(() -> assertThat(browser.text("#shared-together")).startsWith("The policy is switched off"));
		await(() -> assertThat(sharedCounts("allowed").stream().mapToInt(Integer::intValue).sum()).isGreaterThan(8));
		browser.find("#shared-switch").sendKeys(Keys.ENTER);
		await(() -> assertThat(browser.text("#shared-yaml")).doesNotContain("enabled"));
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
		open();
		TRIALS.lines().map((trial) -> trial.split(" *\\| ")).forEach((trial) -> {
			String button = "[aria-label='%s: %s']".formatted(trial[0], trial[1]);
			browser.click(button);
			await(() -> assertThat(browser.find(button).isEnabled()).isTrue());
			assertThat(browser.text("[data-trial]:has(%s) .last".formatted(button))).as(button).matches(trial[2]);
		});
		Matcher result = OF_LEASES.matcher(browser.text("[data-trial=lease] .last"));
		assertThat(result.matches()).isTrue();
		int allowed = Integer.parseInt(result.group(1));
		assertThat(600 - allowed).isLessThanOrEqualTo((int) browser.givenUp());
		assertThat(Integer.parseInt(result.group(2)) + Integer.parseInt(result.group(3))).isBetween(allowed, 600);
		assertThat(Integer.parseInt(result.group(3))).isGreaterThan(300);
		assertThat(browser.inaccessible()).isEmpty();
		assertThat(browser.errors()).isEmpty();
	}

	@Test
	void everyExampleIsAnsweredAlsoAcrossOrigins() throws IOException {
		open();
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
		try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
			return files.filter((file) -> file.toString().matches(".*\\.(java|yml)"))
				.map((file) -> contentOf(file.toFile()))
				.collect(Collectors.joining())
				.replaceAll(" +", " ");
		}
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
