package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pictures of the playground, for the documentation. No test of a build: {@code
 * .ci/pictures} runs it, and says where the pictures go with the system property
 * {@code ratelimit.pictures}.
 */
class PlaygroundPictures extends InBrowser {

	private static final Path FOLDER = Path.of(System.getProperty("ratelimit.pictures", "target/pictures"));

	/**
	 * Each step is an element to click or to wait for, or how many requests have to be
	 * sent.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					1280 | false | #race | playground-race.png  | [data-preset=edge]; #race-start; 20
					390  | true  | #race | playground-phone.png | [data-preset=edge]; #race-start; 20
					1280 | false | [data-algorithm=sliding-window] | playground-redis.png \
						| [data-algorithm=sliding-window] .lane-open; [data-preset=steady]; #race-start; 12
					1280 | true  | #live | playground-live.png \
						| #outage-send; [data-preset=clients]; #race-start; 250; #redis-stop; 310
					1280 | false | #shared | playground-shared.png \
						| #shared-second; await #shared-tiles li:nth-child(3); #shared-send; await #shared-tiles li:nth-child(3) .denied
					""")
	void requestsAreSent(int width, boolean dark, String shown, String file, String steps) throws IOException {
		open(width, dark);
		for (String step : steps.split("; ")) {
			if (step.matches("\\d+")) {
				awaitRequests(Integer.parseInt(step));
			}
			else if (step.startsWith("await ")) {
				Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.untilAsserted(() -> assertThat(browser.findAll(step.substring(6))).isNotEmpty());
			}
			else {
				browser.click(step);
			}
		}
		browser.picture(shown, FOLDER.resolve(file));
		if (steps.contains("#redis-stop")) {
			browser.click("#redis-start");
		}
	}

	@ParameterizedTest
	@CsvSource({ "[data-trial] .primary, #more-tiles, #more, playground-more.png",
			".example .primary, #examples, #try, playground-try.png" })
	void everythingIsTried(String buttons, String answers, String shown, String file) throws IOException {
		open(1280, false);
		browser.findAll(buttons).forEach((send) -> browser.run("arguments[0].click()", send));
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.untilAsserted(() -> assertThat(browser.text(answers)).doesNotContain("Nothing sent yet.", "Sending…",
					"The answer appears here."));
		browser.picture(shown, FOLDER.resolve(file));
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
