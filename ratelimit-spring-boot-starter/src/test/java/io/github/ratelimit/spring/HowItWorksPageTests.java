package io.github.ratelimit.spring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The drawing in {@code docs/how-it-works.md} of what an allowed request passes: its
 * classes exist, and there are not more of them than it may pass.
 */
class HowItWorksPageTests {

	/** To pass more of them, a request needs a good reason. */
	private static final int MOST = 14;

	private static final Pattern CLASS = Pattern.compile("\\b(?:[A-Z][a-z]+)+\\b");

	private static String page = "";

	@BeforeAll
	static void read() throws IOException {
		page = Files.readString(Path.of("..", "docs", "how-it-works.md"));
	}

	@Test
	void requestPassesFewClassesOfTheStarter() {
		Set<String> drawn = names(before(drawing(), "subgraph core"));
		assertThat(drawn).hasSizeBetween(MOST / 2, MOST).isSubsetOf(classes("io.github.ratelimit.spring"));
		assertThat(page).contains("limited by a header: %d, without".formatted(drawn.size()));
	}

	@Test
	void requestPassesClassesOfTheCore() {
		Set<String> drawn = names(before(after(drawing(), "subgraph core"), "end\n"));
		assertThat(drawn).isNotEmpty().isSubsetOf(classes("io.github.ratelimit"));
	}

	@Test
	void featuresAddClassesThatExist() {
		String table = before(after(page, "| feature | classes |"), "\n\n");
		List<String> columns = table.lines()
			.filter((line) -> !line.isBlank() && !line.startsWith("|---"))
			.map((line) -> line.split("\\|")[2])
			.toList();
		assertThat(columns).hasSizeGreaterThan(10);
		assertThat(names(String.join(" ", columns))).hasSizeGreaterThan(columns.size())
			.isSubsetOf(classes("io.github.ratelimit.spring"));
	}

	private static String drawing() {
		return before(after(after(page, "## The classes it passes"), "```mermaid"), "```");
	}

	private static String after(String text, String start) {
		assertThat(text).contains(start);
		return text.substring(text.indexOf(start) + start.length());
	}

	private static String before(String text, String end) {
		assertThat(text).contains(end);
		return text.substring(0, text.indexOf(end));
	}

	private static Set<String> names(String text) {
		return CLASS.matcher(text)
			.results()
			.map((match) -> match.group())
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static Set<String> classes(String root) {
		return new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
			.importPackages(root)
			.stream()
			.map(JavaClass::getSimpleName)
			.collect(Collectors.toSet());
	}

}
