package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pictures of the playground, for the documentation. No test of a build: {@code
 * .ci/pictures} runs it, and says where the pictures go with the system property
 * {@code ratelimit.pictures}.
 */
@Tag("browser")
class PlaygroundPictures {

	private static final Path FOLDER = Path.of(System.getProperty("ratelimit.pictures", "target/pictures"));

	private static Playground playground;

	private static Browser browser;

	@BeforeAll
	static void start() {
		playground = new Playground();
		browser = new Browser();
	}

	@AfterAll
	static void stop() {
		browser.close();
		playground.close();
	}

	@ParameterizedTest
	@CsvSource({ "1280, false, playground-race.png", "390, true, playground-phone.png" })
	void race(int width, boolean dark, String file) throws IOException {
		open(width, dark);
		browser.click("[data-preset=edge]");
		browser.click("#race-start");
		awaitRequests(20);
		browser.picture("#race", FOLDER.resolve(file));
	}

	@Test
	void redis() throws IOException {
		open(1280, false);
		browser.click("[data-algorithm=sliding-window] .lane-open");
		browser.click("[data-preset=steady]");
		browser.click("#race-start");
		awaitRequests(12);
		browser.picture("[data-algorithm=sliding-window]", FOLDER.resolve("playground-redis.png"));
	}

	@Test
	void live() throws IOException {
		open(1280, true);
		browser.click("#outage-send");
		browser.click("[data-preset=clients]");
		browser.click("#race-start");
		awaitRequests(250);
		browser.click("#redis-stop");
		awaitRequests(310);
		browser.picture("#live", FOLDER.resolve("playground-live.png"));
		browser.click("#redis-start");
	}

	@Test
	void more() throws IOException {
		open(1280, false);
		browser.findAll("[data-trial] .primary").forEach((send) -> browser.run("arguments[0].click()", send));
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.untilAsserted(
					() -> assertThat(browser.text("#more-tiles")).doesNotContain("Nothing sent yet.", "Sending…"));
		browser.picture("#more", FOLDER.resolve("playground-more.png"));
	}

	@Test
	void tryIt() throws IOException {
		open(1280, false);
		browser.findAll(".example .primary").forEach((send) -> browser.run("arguments[0].click()", send));
		Awaitility.await()
			.untilAsserted(() -> assertThat(browser.text("#examples")).doesNotContain("The answer appears here."));
		browser.picture("#try", FOLDER.resolve("playground-try.png"));
	}

	private static void open(int width, boolean dark) {
		browser.open(playground.url(), width, dark);
		Awaitility.await().untilAsserted(() -> assertThat(browser.findAll(".lane")).isNotEmpty());
	}

	private static void awaitRequests(int count) {
		Awaitility.await()
			.atMost(Duration.ofMinutes(3))
			.untilAsserted(() -> assertThat(requests(browser.text("#race-status"))).isGreaterThanOrEqualTo(count));
	}

	private static int requests(String status) {
		Matcher number = Pattern.compile("Sent (\\d+) requests").matcher(status);
		return number.find() ? Integer.parseInt(number.group(1)) : 0;
	}

}
