package io.github.ratelimit.spring.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.ConfigurationHints;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.algorithm.DailyAllowance;
import io.github.ratelimit.spring.redis.TestCertificate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.RedisCredentialsProvider;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of configuration in the documentation: each of them starts an application.
 */
class DocumentedConfigurationTests {

	private static final Path ROOT = Path.of("..");

	/** Links to files, and to headings of this or another page. */
	private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#]*)(?:#([^)]+))?\\)");

	private static final int MOST_LINES = 200;

	private static final Pattern EXAMPLE = Pattern.compile("(?m)^```yaml\\n(.*?)^```", Pattern.DOTALL);

	private static Path certificate;

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withSystemProperties("LIMIT_SECRET=secret", "redis-password=secret")
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
		.withBean("dailyAllowance", Algorithm.class, () -> new DailyAllowance(6))
		.withBean("tokens", RedisCredentialsProvider.class, () -> () -> new DefaultRedisCredentials("app", "token"))
		.withBean("account", IdentifierResolver.class, () -> (request) -> request.getParameter("username"));

	static List<Example> examples() throws IOException {
		List<Example> examples = new ArrayList<>();
		for (String page : pages()) {
			yaml(page).forEach((yaml) -> examples.add(new Example(page, yaml)));
		}
		return examples;
	}

	/** Returns the examples of a page. */
	static List<String> yaml(String page) throws IOException {
		return EXAMPLE.matcher(Files.readString(ROOT.resolve(page))).results().map((match) -> match.group(1)).toList();
	}

	@BeforeAll
	static void createCertificate(@TempDir Path folder) throws IOException, InterruptedException {
		certificate = TestCertificate.of("redis.example.com", folder).certificate();
	}

	@ParameterizedTest
	@MethodSource("examples")
	void exampleStartsAnApplication(Example example) {
		String yaml = example.yaml().replace("/etc/redis/ca.crt", certificate.toString());
		this.runner
			.withInitializer((context) -> StarterRunners.yaml(example.page(), yaml)
				.forEach(context.getEnvironment().getPropertySources()::addFirst))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** Editors show them. */
	@Test
	void hintsNameAllAlgorithms() throws Exception {
		assertThat(ConfigurationHints.of("ratelimit.defaults.algorithm"))
			.containsExactlyInAnyOrderElementsOf(Algorithms.all().stream().map(Algorithm::name).toList());
	}

	@ParameterizedTest
	@MethodSource("pages")
	void pageIsShort(String page) throws IOException {
		assertThat(Files.readAllLines(ROOT.resolve(page))).hasSizeLessThanOrEqualTo(MOST_LINES);
	}

	@ParameterizedTest
	@MethodSource("pages")
	void linksLeadSomewhere(String page) throws IOException {
		Path file = ROOT.resolve(page);
		Matcher link = LINK.matcher(Files.readString(file));
		while (link.find()) {
			Path target = link.group(1).isEmpty() ? file : file.resolveSibling(link.group(1));
			assertThat(target).exists();
			if (link.group(2) != null) {
				assertThat(headings(target)).as(link.group()).contains(link.group(2));
			}
		}
	}

	private static List<String> headings(Path page) throws IOException {
		return Files.readAllLines(page)
			.stream()
			.filter((line) -> line.startsWith("#"))
			.map((line) -> line.replaceAll("[^\\p{L}\\p{N} -]", "").strip().toLowerCase(Locale.ROOT).replace(' ', '-'))
			.toList();
	}

	@Test
	void pagesHaveExamples() throws IOException {
		assertThat(examples()).hasSizeGreaterThan(30);
	}

	/** The pages of the documentation that people write. */
	static List<String> pages() throws IOException {
		try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
			return Stream
				.concat(Stream.of("README.md"),
						files.map((file) -> "docs/" + file.getFileName())
							.filter((name) -> name.endsWith(".md") && !name.endsWith("configuration.md"))
							.sorted())
				.toList();
		}
	}

	private record Example(String page, String yaml) {

	}

}
