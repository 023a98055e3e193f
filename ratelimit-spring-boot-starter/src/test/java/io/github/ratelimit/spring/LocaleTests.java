package io.github.ratelimit.spring;

import java.io.IOException;
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
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is stored in Redis, sent or thrown does not depend on the language of the machine.
 */
class LocaleTests {

	/**
	 * Conversions whose result depends on the locale, such as %d and %,.2f, and methods
	 * that use the default one. %s of a number does not; %2f is an encoded character.
	 */
	private static final Pattern LOCALIZED = Pattern.compile("%(?![0-9][0-9a-fA-F])[-#+0,<0-9.$]*[dfeEgGtTSXH]|%[0-9]d"
			+ "|to(Lower|Upper)Case\\(\\)|String\\.format\\((?!Locale\\.ROOT)|String::to(Lower|Upper)Case"
			+ "|NumberFormat\\.|new DecimalFormat|ofLocalized|ofPattern\\((?!.*Locale\\.ROOT)|MessageFormat|printf\\(");

	@ParameterizedTest
	@MethodSource("modules")
	void nothingIsFormattedByTheDefaultLocale(Path module) throws IOException {
		try (Stream<Path> files = Files.walk(module)) {
			List<String> found = files.filter((file) -> file.toString().endsWith(".java"))
				.flatMap((file) -> lines(file).filter((line) -> LOCALIZED.matcher(line).find())
					.map((line) -> file.getFileName() + ": " + line.strip()))
				.toList();
			assertThat(found).isEmpty();
		}
	}

	static Stream<Path> modules() {
		return Stream.of("core", "spring-boot-starter", "spring-boot-test", "sample-app")
			.map((module) -> Path.of("..", "ratelimit-" + module, "src", "main", "java"));
	}

	private static Stream<String> lines(Path file) {
		try {
			return Files.readAllLines(file).stream();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "%d", "%,d", "%5.1f", "%1$d", "text.toLowerCase()", "String.format(\"%s\")" })
	void textThatDependsOnTheLocaleIsFound(String line) {
		assertThat(LOCALIZED.matcher(line).find()).isTrue();
	}

	@Test
	void otherTextIsNotFound() {
		assertThat(LOCALIZED.matcher("%s %n %% %2f %5c toLowerCase(Locale.ROOT) String.format(Locale.ROOT, )").find())
			.isFalse();
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

}
