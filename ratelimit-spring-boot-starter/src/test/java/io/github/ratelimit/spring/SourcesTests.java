package io.github.ratelimit.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is stored in Redis, sent or thrown does not depend on the language of the machine.
 * The builds of Javadoc and of the comparison with a release leave out exactly the
 * packages whose description says that they are internal.
 */
class SourcesTests {

	/**
	 * Conversions whose result depends on the locale, such as %d and %,.2f, and methods
	 * that use the default one. %s of a number does not; %2f is an encoded character.
	 */
	private static final Pattern LOCALIZED = Pattern.compile("%(?![0-9][0-9a-fA-F])[-#+0,<0-9.$]*[dfeEgGtTSXH]|%[0-9]d"
			+ "|to(Lower|Upper)Case\\(\\)|String\\.format\\((?!Locale\\.ROOT)|String::to(Lower|Upper)Case"
			+ "|NumberFormat\\.|new DecimalFormat|ofLocalized|ofPattern\\((?!.*Locale\\.ROOT)|MessageFormat|printf\\(");

	private static final Pattern PROPERTY = Pattern.compile("<internal\\.packages>(.+)</internal\\.packages>");

	private static final Pattern EXCLUDE = Pattern.compile("<exclude>(io\\.github\\.ratelimit\\.[^<]+)</exclude>");

	private static final Path STARTER = Path.of("");

	private static final Path CORE = Path.of("..", "ratelimit-core");

	@ParameterizedTest
	@ValueSource(strings = { "core", "spring-boot-starter", "spring-boot-test", "sample-app" })
	void nothingIsFormattedByTheDefaultLocale(String module) {
		assertThat(files(Path.of("..", "ratelimit-" + module), ".java").flatMap((file) -> read(file).lines()
			.filter((line) -> LOCALIZED.matcher(line).find())
			.map((line) -> file.getFileName() + ": " + line.strip()))).isEmpty();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "%d | true", "%,d | true", "%5.1f | true", "%1$d | true", "text.toLowerCase() | true",
					"String.format(\"%s\") | true",
					"%s %n %% %2f %5c toLowerCase(Locale.ROOT) String.format(Locale.ROOT, ) | false" })
	void textThatDependsOnTheLocaleIsFound(String line, boolean found) {
		assertThat(LOCALIZED.matcher(line).find()).isEqualTo(found);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ar-EG", "fa-IR", "th-TH-u-nu-thai", "hi-IN-u-nu-deva", "tr-TR" })
	void digitsAreThoseOfEveryLanguage(String language) {
		Locale before = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag(language));
		try {
			assertThat(
					new Penalty(20, Duration.ofMinutes(1), Duration.ofMinutes(15), Duration.ofDays(1)).reason("login"))
				.isEqualTo("denied 20 times in 1m by policy 'login'");
			assertThatIllegalArgumentException().isThrownBy(() -> new Limit(-5, Duration.ofMinutes(1)))
				.withMessageContaining("(-5)")
				.withMessageMatching("\\p{ASCII}*");
		}
		finally {
			Locale.setDefault(before);
		}
	}

	@Test
	void buildsLeaveOutInternalPackages() {
		assertThat(found(PROPERTY, STARTER)).isEqualTo(internal(STARTER));
		assertThat(found(PROPERTY, CORE)).isEqualTo(internal(CORE));
		assertThat(found(EXCLUDE, Path.of("..")))
			.isEqualTo(Stream.concat(internal(CORE).stream(), internal(STARTER).stream()).toList());
	}

	private static List<String> found(Pattern pattern, Path module) {
		return pattern.matcher(read(module.resolve("pom.xml")))
			.results()
			.flatMap((match) -> Stream.of(match.group(1).split(":")))
			.sorted()
			.toList();
	}

	private static List<String> internal(Path module) {
		Path sources = sources(module);
		return files(module, "package-info.java").filter((file) -> read(file).contains("Internal:"))
			.map((file) -> sources.relativize(file.getParent()).toString().replaceAll("[/\\\\]", "."))
			.sorted()
			.toList();
	}

	private static Path sources(Path module) {
		return module.resolve(Path.of("src", "main", "java"));
	}

	private static Stream<Path> files(Path module, String end) {
		try (Stream<Path> files = Files.walk(sources(module))) {
			return files.filter((file) -> file.toString().endsWith(end)).toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
