package io.github.ratelimit.spring;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import inet.ipaddr.HostName;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What may be public, and who may know whom.
 */
class ArchitectureTests {

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.withImportOption((location) -> !location.contains("-tests.jar"))
		.importPackages("io.github.ratelimit");

	private static final DescribedPredicate<JavaClass> PUBLIC = DescribedPredicate.describe("are public",
			(type) -> type.getModifiers().contains(JavaModifier.PUBLIC));

	@Test
	void autoConfigurationsAreFinalWithoutPublicMembers() {
		classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.andShould()
			.haveModifier(JavaModifier.FINAL)
			.andShould(haveNoPublicMembers())
			.check(CLASSES);
	}

	private static ArchCondition<JavaClass> haveNoPublicMembers() {
		return new ArchCondition<>("have no public members") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				for (JavaMember member : type.getMembers()) {
					boolean defaultConstructor = member.getName().equals("<init>");
					if (member.getModifiers().contains(JavaModifier.PUBLIC) && !defaultConstructor) {
						events.add(SimpleConditionEvent.violated(type, member.getFullName() + " is public"));
					}
				}
			}

		};
	}

	@Test
	void onlyAdvisorAndCheckOfAdviceArePublic() {
		assertThat(CLASSES.that(DescribedPredicate.and(PUBLIC, JavaClass.Predicates.resideInAPackage("..spring.aop"))))
			.extracting(JavaClass::getSimpleName)
			.containsExactlyInAnyOrder("RateLimitedAdvisor", "RateLimitedBeanCheck");
	}

	@Test
	void onlyTheseClassesOfWebArePublic() {
		assertThat(CLASSES.that(DescribedPredicate.and(PUBLIC, JavaClass.Predicates.resideInAPackage("..spring.web"))))
			.extracting(JavaClass::getSimpleName)
			.containsExactlyInAnyOrder("AccessLists", "AddressResolver", "ApplicationCors", "ForwardedHeader",
					"HeaderStyle", "IdentifierResolver", "LimitHeaders", "LimitedResponses", "PathPolicy",
					"PlanResolver", "RateLimitExceededFilter", "RateLimitExceededResolver", "RateLimitExemption",
					"RateLimitFilter", "RejectionHandler", "RequestCost", "CostSettlement", "CostSettlementListener",
					"RequestIdentifiers", "Route", "ServletPolicyEnforcer", "TrustedProxies", "UserPlans");
	}

	@Test
	void onlyPropertiesAndAutoConfigurationsArePublic() {
		classes().that(PUBLIC)
			.and()
			.resideInAPackage("..spring.autoconfigure")
			.and()
			.areTopLevelClasses()
			.should()
			.haveSimpleNameEndingWith("AutoConfiguration")
			.orShould()
			.haveSimpleNameEndingWith("Properties")
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

	@Test
	void nobodyKnowsAutoConfigurations() {
		noClasses().that()
			.resideOutsideOfPackage("..spring.autoconfigure")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("..spring.autoconfigure")
			.check(CLASSES);
	}

	@Test
	void adviceAndAnnotationKnowNothingOfWeb() {
		noClasses().that()
			.resideInAnyPackage("io.github.ratelimit.spring", "..spring.aop", "..spring.annotation")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.github.ratelimit.spring.web", "jakarta.servlet..", "org.springframework.web..")
			.check(CLASSES);
	}

	@Test
	void nobodyLooksUpNames() {
		noClasses().that()
			.resideInAPackage("..spring.web")
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

}
