package io.github.ratelimit.sample;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.stream.Stream;

import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

import org.springframework.core.io.ClassPathResource;

/**
 * The Chromium of this machine, without a window.
 */
final class Browser implements AutoCloseable {

	private final ChromeDriver driver;

	/** What the console said that nobody has asked for yet. */
	private final List<String> console = new ArrayList<>();

	Browser() {
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(program("chromedriver"))
			.build();
		ChromeOptions options = new ChromeOptions();
		options.setBinary(program("chromium", "chromium-browser", "google-chrome"));
		options.addArguments("--headless=new", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1");
		if ("root".equals(System.getProperty("user.name"))) {
			// Chromium has no sandbox for root, as in most containers.
			options.addArguments("--no-sandbox", "--disable-dev-shm-usage");
		}
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.ALL);
		options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
		this.driver = new ChromeDriver(service, options);
		// The check for accessibility takes long on a busy machine.
		this.driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(5));
	}

	/** Returns the first of these programs that is in the PATH. */
	static File program(String... names) {
		return Stream.of(names)
			.flatMap((name) -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
				.map((folder) -> new File(folder, name)))
			.filter(File::canExecute)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException(
					"None of %s is in the PATH: install it, or leave out the profile that needs it."
						.formatted(List.of(names))));
	}

	/** Opens a page as a screen of this width, in light or dark, would show it. */
	void open(String url, int width, boolean dark) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", width < 700));
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
		this.driver.get(url);
	}

	WebElement find(String selector) {
		return this.driver.findElement(By.cssSelector(selector));
	}

	List<WebElement> findAll(String selector) {
		return this.driver.findElements(By.cssSelector(selector));
	}

	/** Clicks as a script does, wherever the page is scrolled to. */
	void click(String selector) {
		run("document.querySelector(arguments[0]).click()", selector);
	}

	/** Text of an element, also of one that is scrolled away; empty if there is none. */
	String text(String selector) {
		return (String) run("return document.querySelector(arguments[0])?.textContent ?? ''", selector);
	}

	Object run(String script, Object... arguments) {
		return ((JavascriptExecutor) this.driver).executeScript(script, arguments);
	}

	WebElement focused() {
		return this.driver.switchTo().activeElement();
	}

	/**
	 * What the console says, but for answers that refused a request, which are no errors
	 * of the page, and for requests that the browser gave up because another test has
	 * started or stopped a container, which changes the networks of the machine.
	 */
	List<String> errors() {
		readConsole();
		List<String> errors = this.console.stream()
			.filter((message) -> !message.matches(".*(status of (400|401|429|503)|ERR_NETWORK_CHANGED).*"))
			.toList();
		this.console.clear();
		return errors;
	}

	/** How many requests the browser gave up because the networks have changed. */
	long givenUp() {
		readConsole();
		return this.console.stream().filter((message) -> message.contains("ERR_NETWORK_CHANGED")).count();
	}

	private void readConsole() {
		this.driver.manage()
			.logs()
			.get(LogType.BROWSER)
			.getAll()
			.stream()
			.map(LogEntry::getMessage)
			.forEach(this.console::add);
	}

	/** What axe-core finds inaccessible on the page: a rule and an element each. */
	List<?> inaccessible() throws IOException {
		run(new ClassPathResource("axe.min.js").getContentAsString(StandardCharsets.UTF_8));
		return (List<?>) this.driver.executeAsyncScript("""
				const done = arguments[arguments.length - 1];
				axe.run().then((result) => done(result.violations.flatMap((rule) =>
					rule.nodes.map((node) => `${rule.id}: ${rule.help}: ${node.html}`))));""");
	}

	/** Writes a picture of an element, all of it, with a margin. */
	void picture(String selector, Path file) throws IOException {
		Object area = run("""
				document.querySelector('.top').style.position = 'static';
				const box = document.querySelector(arguments[0]).getBoundingClientRect();
				return {
					x: 0, y: box.top + scrollY, width: innerWidth, height: box.height, scale: 1
				};""", selector);
		Object picture = this.driver
			.executeCdpCommand("Page.captureScreenshot",
					Map.of("format", "png", "captureBeyondViewport", true, "clip", area))
			.get("data");
		run("document.querySelector('.top').style.position = ''");
		Files.createDirectories(file.getParent());
		Files.write(file, Base64.getDecoder().decode((String) picture));
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
