package io.github.ratelimit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import java.util.Set;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who may know whom, and what users see.
 */
class ArchitectureTests {

	private static final String ROOT = "io.github.ratelimit";

	private static final String REDIS = ROOT + ".redis";

	private static final String CONNECTION = REDIS + ".connection";

	private static final String CLUSTER = REDIS + ".cluster";

	private static final String SCRIPT = REDIS + ".script";

	private static final String TEMPLATE = SCRIPT + ".template";

	private static final String PIPELINE = REDIS + ".pipeline";

	/** What is public there is so for the others of the library. */
	private static final Set<String> INTERNAL = Set.of(CONNECTION, CLUSTER, SCRIPT, TEMPLATE, PIPELINE);

	/** Each package, and which others of the library it may know. */
	private static final Map<String, Set<String>> PICTURE = Map.ofEntries(Map.entry(ROOT, Set.of()),
			// What decides without Redis, and what decorates a store.
			Map.entry(ROOT + ".algorithm", Set.of(ROOT)), Map.entry(ROOT + ".memory", Set.of(ROOT)),
			Map.entry(ROOT + ".denial", Set.of(ROOT)), Map.entry(ROOT + ".lease", Set.of(ROOT)),
			Map.entry(ROOT + ".outage", Set.of(ROOT)), Map.entry(ROOT + ".waiting", Set.of(ROOT)),
			// Connections, which know nothing of rate limits.
			Map.entry(CONNECTION, Set.of()), Map.entry(CLUSTER, Set.of(CONNECTION)),
			// Calls, and how the Lua of scripts is made.
			Map.entry(SCRIPT, Set.of(ROOT, CONNECTION)), Map.entry(TEMPLATE, Set.of(ROOT, SCRIPT)),
			Map.entry(PIPELINE, Set.of(ROOT, ROOT + ".algorithm", CONNECTION, SCRIPT)),
			// The stores.
			Map.entry(REDIS, Set.of(ROOT, CONNECTION, CLUSTER, SCRIPT, TEMPLATE, PIPELINE)));

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption(new ImportOption.DoNotIncludeJars())
		.importPackages(ROOT);

	@Test
	void coreDoesNotKnowSpring() {
		noClasses().should().dependOnClassesThat().resideInAPackage("org.springframework..").check(CLASSES);
	}

	@Test
	void onlyTheRedisPackagesKnowJedis() {
		noClasses().that()
			.resideOutsideOfPackage(REDIS + "..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("redis..")
			.check(CLASSES);
	}

	@Test
	void packagesHaveNoCycles() {
		slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(CLASSES);
	}

	static Set<String> packages() {
		return PICTURE.keySet();
	}

	@ParameterizedTest
	@MethodSource("packages")
	void packageKnowsNoOthersThanInThePicture(String name) {
		Set<String> known = PICTURE.get(name);
		noClasses().that()
			.resideInAPackage(name)
			.should()
			.dependOnClassesThat(DescribedPredicate.describe("are in another package of the library than " + known,
					(type) -> PICTURE.containsKey(type.getPackageName()) && !type.getPackageName().equals(name)
							&& !known.contains(type.getPackageName())))
			.check(CLASSES);
	}

	@Test
	void pictureHasAllPackages() {
		assertThat(CLASSES.stream().map(JavaClass::getPackageName)).allMatch(PICTURE::containsKey);
	}

	@Test
	void onlyTheComposerIsSeenOfTemplates() {
		assertThat(CLASSES.stream()
			.filter((type) -> type.getPackageName().equals(TEMPLATE)
					&& type.getModifiers().contains(JavaModifier.PUBLIC)))
			.extracting(JavaClass::getSimpleName)
			.containsExactly("Composer");
	}

	@Test
	void plainCommandsKnowOfScriptsOnlyTheRedisKeys() {
		noClasses().that()
			.resideInAPackage(PIPELINE)
			.should()
			.dependOnClassesThat(DescribedPredicate.describe("are about scripts",
					(type) -> type.getPackageName().equals(SCRIPT) && !type.getSimpleName().equals("RedisKeys")))
			.check(CLASSES);
	}

	@Test
	void usersSeeOnlyWhatTheyName() {
		DescribedPredicate<JavaClass> visible = DescribedPredicate.describe("visible, but for algorithms",
				(type) -> type.getModifiers().contains(JavaModifier.PUBLIC) && !type.getPackageName().equals(ROOT)
						&& !INTERNAL.contains(type.getPackageName()) && !type.isAssignableTo(Algorithm.class));
		assertThat(CLASSES.that(visible).stream().map(JavaClass::getName)).containsExactlyInAnyOrder(
				ROOT + ".algorithm.Algorithms", ROOT + ".algorithm.SlidingWindowCounter$Rounding",
				ROOT + ".denial.DenialCache", ROOT + ".lease.BackgroundTimer", ROOT + ".lease.LeasedRateLimiter",
				ROOT + ".memory.MemoryRateLimiter", ROOT + ".outage.LocalRateLimiter", ROOT + ".outage.OnStoreFailure",
				ROOT + ".outage.OutageRateLimiter", REDIS + ".PipelineRateLimiter", REDIS + ".RedisConnections",
				REDIS + ".RedisConnections$Builder", REDIS + ".RedisErrorKind", REDIS + ".RedisListener",
				REDIS + ".RedisRateLimiter", ROOT + ".waiting.WaitingRateLimiter",
				ROOT + ".waiting.WaitingRateLimiter$Time");
	}

	@Test
	void usersAreHandedNothingInternal() {
		assertThat(CLASSES.stream()
			.filter((type) -> type.getModifiers().contains(JavaModifier.PUBLIC)
					&& !INTERNAL.contains(type.getPackageName()))
			.flatMap((type) -> type.getCodeUnits().stream())
			.filter((each) -> each.getModifiers().contains(JavaModifier.PUBLIC))
			.flatMap((each) -> Stream.concat(Stream.of(each.getRawReturnType()), each.getRawParameterTypes().stream())))
			.isNotEmpty()
			.noneMatch((type) -> INTERNAL.contains(type.getPackageName()));
	}

	static Set<String> internalPackages() {
		return INTERNAL;
	}

	@ParameterizedTest
	@MethodSource("internalPackages")
	void internalPackagesSaySo(String name) throws IOException {
		Path description = Path.of("src", "main", "java").resolve(name.replace('.', '/')).resolve("package-info.java");
		assertThat(Files.readString(description).replace("\n * ", " "))
			.contains("Internal: not for users of the library.");
	}

	@Test
	void metersAreHiddenAndCannotBeExtended() {
		classes().that()
			.implement(Meter.class)
			.should()
			.bePackagePrivate()
			.andShould()
			.haveModifier(JavaModifier.FINAL)
			.check(CLASSES);
	}

	@Test
	void everyPackageIsNullMarked() {
		Set<JavaPackage> packages = CLASSES.getPackage(ROOT).getSubpackagesInTree();
		assertThat(packages).isNotEmpty();
		assertThat(CLASSES.getPackage(ROOT).isAnnotatedWith(NullMarked.class)).isTrue();
		assertThat(packages)
			.allSatisfy((each) -> assertThat(each.isAnnotatedWith(NullMarked.class)).as(each.getName()).isTrue());
	}

}
