package io.github.ratelimit;

import java.util.Set;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who may know whom, and what users see.
 */
class ArchitectureTests {

	private static final String ROOT = "io.github.ratelimit";

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption(new ImportOption.DoNotIncludeJars())
		.importPackages(ROOT);

	@Test
	void coreDoesNotKnowSpring() {
		noClasses().should().dependOnClassesThat().resideInAPackage("org.springframework..").check(CLASSES);
	}

	@Test
	void onlyTheRedisPackageKnowsJedis() {
		noClasses().that()
			.resideOutsideOfPackage(ROOT + ".redis")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("redis..")
			.check(CLASSES);
	}

	@Test
	void packagesHaveNoCycles() {
		slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
	}

	@Test
	void rootKnowsNoOtherPackage() {
		onlyKnowsTheRootAndItself(ROOT).check(CLASSES);
	}

	@ParameterizedTest
	@ValueSource(strings = { "algorithm", "denial", "memory", "outage", "redis" })
	void otherPackagesKnowTheRootOnly(String name) {
		onlyKnowsTheRootAndItself(ROOT + "." + name).check(CLASSES);
	}

	@Test
	void usersSeeOnlyWhatTheyName() {
		DescribedPredicate<JavaClass> visible = DescribedPredicate.describe("visible, but for algorithms",
				(type) -> type.getModifiers().contains(JavaModifier.PUBLIC) && !type.getPackageName().equals(ROOT)
						&& !type.isAssignableTo(Algorithm.class));
		assertThat(CLASSES.that(visible).stream().map(JavaClass::getName)).containsExactlyInAnyOrder(
				ROOT + ".algorithm.Algorithms", ROOT + ".algorithm.SlidingWindowCounter$Rounding",
				ROOT + ".denial.DenialCache", ROOT + ".memory.MemoryRateLimiter", ROOT + ".outage.LocalRateLimiter",
				ROOT + ".outage.OnStoreFailure", ROOT + ".outage.OutageRateLimiter",
				ROOT + ".redis.PipelineRateLimiter", ROOT + ".redis.RedisErrorKind", ROOT + ".redis.RedisRateLimiter",
				ROOT + ".redis.TimeBudget");
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

	private static ArchRule onlyKnowsTheRootAndItself(String name) {
		return noClasses().that()
			.resideInAPackage(name)
			.should()
			.dependOnClassesThat(DescribedPredicate.describe("are in another package of the library than the root",
					(type) -> type.getPackageName().startsWith(ROOT) && !type.getPackageName().equals(ROOT)
							&& !type.getPackageName().equals(name)));
	}

}
