package io.github.ratelimit.spring;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import inet.ipaddr.HostName;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMembers;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What may be public, and who may know whom. The drawing in {@code docs/how-it-works.md}
 * of what an allowed request passes has classes that exist, and not more than it may
 * pass.
 */
class ArchitectureTests {

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.withImportOption((location) -> !location.contains("-tests.jar"))
		.importPackages("io.github.ratelimit");

	private static final String ROOT = "io.github.ratelimit.spring";

	/** To pass more of these classes, a request needs a good reason. */
	private static final int MOST = 14;

	private static final Pattern CLASS = Pattern.compile("\\b(?:[A-Z][a-z]+)+\\b");

	/** The picture of the house: each package, and whom of the others it may know. */
	private static final Map<String, Set<String>> PICTURE = Map.ofEntries(Map.entry("policy", Set.of()),
			Map.entry("", Set.of("policy")), Map.entry("annotation", Set.of()),
			Map.entry("decide", Set.of("", "policy")), Map.entry("config", Set.of("", "policy", "decide")),
			Map.entry("config.diagnosis", Set.of("config", "decide")), Map.entry("expression", Set.of("decide")),
			Map.entry("redis", Set.of("", "policy", "decide", "config")),
			Map.entry("client", Set.of("", "policy", "decide", "config")),
			Map.entry("method", Set.of("", "policy", "annotation", "decide", "config", "expression")),
			Map.entry("web.address", Set.of("config", "decide")),
			Map.entry("web.identify", Set.of("", "policy", "decide", "config", "expression", "web.address")),
			Map.entry("web.path", Set.of("", "policy", "decide", "config")),
			Map.entry("web.answer", Set.of("", "policy", "decide", "config")),
			Map.entry("web.cors", Set.of("", "policy", "web.path")),
			Map.entry("web",
					Set.of("", "policy", "decide", "config", "web.address", "web.identify", "web.path", "web.answer",
							"web.cors")),
			Map.entry("actuate", Set.of("", "policy", "decide", "config", "web", "web.identify")));

	@Test
	void autoConfigurationsAreFinalWithoutPublicMembers() {
		classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.andShould()
			.haveModifier(JavaModifier.FINAL)
			.check(CLASSES);
		noMembers().that()
			.areDeclaredInClassesThat()
			.areAnnotatedWith(AutoConfiguration.class)
			.and()
			.doNotHaveName("<init>")
			.should()
			.bePublic()
			.check(CLASSES);
	}

	@Test
	void packagesAreFreeOfCycles() {
		slices().matching("io.github.ratelimit.(**)").should().beFreeOfCycles().check(CLASSES);
	}

	@Test
	void coreKnowsNeitherStarterNorSpring() {
		noClasses().that()
			.resideInAPackage("io.github.ratelimit..")
			.and()
			.resideOutsideOfPackage("io.github.ratelimit.spring..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.github.ratelimit.spring..", "org.springframework..")
			.check(CLASSES);
	}

	static Set<String> packages() {
		return PICTURE.keySet();
	}

	@ParameterizedTest
	@MethodSource("packages")
	void packageKnowsNoOthersThanInThePicture(String name) {
		String[] known = Stream.concat(Stream.of(name), PICTURE.get(name).stream())
			.map(ArchitectureTests::packageName)
			.toArray(String[]::new);
		classes().that()
			.resideInAPackage(packageName(name))
			.should()
			.onlyDependOnClassesThat(JavaClass.Predicates.resideOutsideOfPackage(ROOT + "..")
				.or(JavaClass.Predicates.resideInAnyPackage(known)))
			.check(CLASSES);
	}

	@Test
	void pictureHasAllPackages() {
		assertThat(CLASSES.stream()
			.map(JavaClass::getPackageName)
			.filter((name) -> name.equals(ROOT) || name.startsWith(ROOT + "."))
			.distinct()).containsExactlyInAnyOrderElementsOf(
					PICTURE.keySet().stream().map(ArchitectureTests::packageName).toList());
	}

	/** They may change with any version. */
	@Test
	void starterKnowsOfTheCoreOnlyWhatUsersMayName() {
		String internal = "io.github.ratelimit.redis.*..";
		assertThat(CLASSES.that(JavaClass.Predicates.resideInAPackage(internal))).isNotEmpty();
		noClasses().that()
			.resideInAPackage(ROOT + "..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(internal)
			.check(CLASSES);
	}

	private static String packageName(String name) {
		return name.isEmpty() ? ROOT : ROOT + "." + name;
	}

	@Test
	void onlyWebKnowsSpringMvc() {
		noClasses().that()
			.resideInAPackage(ROOT + "..")
			.and()
			.resideOutsideOfPackages(ROOT + ".web..", ROOT + ".test..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework.web..")
			.check(CLASSES);
	}

	@Test
	void nobodyLooksUpNames() {
		noClasses().that()
			.resideInAPackage("..spring.web..")
			.should()
			.dependOnClassesThat()
			.belongToAnyOf(InetAddress.class, InetSocketAddress.class)
			.orShould()
			.callMethod(HostName.class, "toAddress")
			.orShould()
			.callMethod(HostName.class, "getAddress")
			.orShould()
			.callMethod(HostName.class, "resolve")
			.check(CLASSES);
	}

	@Test
	void everyPackageIsNullMarked() {
		assertThat(CLASSES).isNotEmpty();
		assertThat(CLASSES).extracting((type) -> type.getPackage())
			.allSatisfy(
					(thePackage) -> assertThat(thePackage.isAnnotatedWith(NullMarked.class)).as(thePackage.getName())
						.isTrue());
	}

	@Test
	void requestPassesFewClassesOfTheStarter() throws IOException {
		Set<String> drawn = names(before(drawing(), "subgraph core"));
		assertThat(drawn).hasSizeBetween(MOST / 2, MOST).isSubsetOf(typesIn("io.github.ratelimit.spring"));
		assertThat(page()).contains("limited by a header: %d, without".formatted(drawn.size()));
	}

	@Test
	void requestPassesClassesOfTheCore() throws IOException {
		Set<String> drawn = names(before(after(drawing(), "subgraph core"), "end\n"));
		assertThat(drawn).isNotEmpty().isSubsetOf(typesIn("io.github.ratelimit"));
	}

	@Test
	void featuresAddClassesThatExist() throws IOException {
		String table = before(after(page(), "| feature | classes |"), "\n\n");
		List<String> columns = table.lines()
			.filter((line) -> !line.isBlank() && !line.startsWith("|---"))
			.map((line) -> line.split("\\|")[2])
			.toList();
		assertThat(columns).hasSizeGreaterThan(10);
		assertThat(names(String.join(" ", columns))).hasSizeGreaterThan(columns.size())
			.isSubsetOf(typesIn("io.github.ratelimit.spring"));
	}

	private static String drawing() throws IOException {
		return before(after(after(page(), "## The classes it passes"), "```mermaid"), "```");
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

	private static String page() throws IOException {
		return Files.readString(Path.of("..", "docs", "how-it-works.md"));
	}

	private static Set<String> typesIn(String root) {
		return CLASSES.that(JavaClass.Predicates.resideInAPackage(root + ".."))
			.stream()
			.map(JavaClass::getSimpleName)
			.collect(Collectors.toSet());
	}

}
