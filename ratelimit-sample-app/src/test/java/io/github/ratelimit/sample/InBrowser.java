package io.github.ratelimit.sample;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Shows the playground in a browser to all tests of a class. */
@Tag("browser")
abstract class InBrowser {

	static Playground playground;

	static Browser browser;

	@BeforeAll
	static void start() {
		playground = new Playground();
		browser = new Browser();
	}

	@AfterAll
	static void stop() {
		if (browser != null) {
			browser.close();
		}
		playground.close();
	}

}
