package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
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

	@AutoClose
	private static final Playground playground = new Playground();

	@AutoClose
	private static final Browser browser = new Browser();

	private static final Path FOLDER = Path.of(System.getProperty("ratelimit.pictures", "target/pictures"));

	/**
	 * Each step is an element to click; or all of them, elements to wait for, or whose
	 * text to wait for, or how many requests have to be sent.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					1280 | false | #race | playground-race.png  | [data-preset=edge]; #race-start; sent 20
					390  | true  | #race | playground-phone.png | [data-preset=edge]; #race-start; sent 20
					1280 | false | [data-algorithm=sliding-window] | playground-redis.png \
						| [data-algorithm=sliding-window] .lane-open; [data-preset=steady]; #race-start; sent 12
					1280 | true  | #live | playground-live.png \
						| #outage-send; [data-preset=clients]; #race-start; sent 250; #redis-stop; sent 310
					1280 | false | #shared | playground-shared.png \
						| #shared-second; see #shared-tiles li:nth-child(3); #shared-send; see #shared-tiles li:nth-child(3) .denied
					1280 | false | #more | playground-more.png \
						| [data-trial=waiting] .primary; see [data-trial=waiting] .primary:enabled; \
					all [data-trial]:not([data-trial=waiting]) .primary; said #more-tiles
					1280 | false | #try  | playground-try.png  | all .example .primary; said #examples
					""")
	void everythingIsTried(int width, boolean dark, String shown, String file, String steps) throws IOException {
		browser.open(playground.url(), width, dark);
		await(() -> assertThat(browser.findAll(".lane")).isNotEmpty());
		for (String step : steps.split("; ")) {
			String what = step.substring(step.indexOf(' ') + 1);
			switch (step.split(" ")[0]) {
				case "sent" -> await(() -> assertThat(sent()).isGreaterThanOrEqualTo(Integer.parseInt(what)));
				case "see" -> await(() -> assertThat(browser.findAll(what)).isNotEmpty());
				case "said" -> await(() -> assertThat(browser.text(what)).doesNotContain("Nothing sent yet.",
						"Sending…", "The answer appears here."));
				case "all" -> browser.findAll(what).forEach((each) -> browser.run("arguments[0].click()", each));
				default -> browser.click(step);
			}
		}
		browser.picture(shown, FOLDER.resolve(file));
		if (steps.contains("#redis-stop")) {
			browser.click("#redis-start");
		}
	}

	private static int sent() {
		Matcher number = Pattern.compile("Sent (\\d+) requests").matcher(browser.text("#race-status"));
		return number.find() ? Integer.parseInt(number.group(1)) : 0;
	}

	private static void await(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofMinutes(3)).untilAsserted(assertion);
	}

}
