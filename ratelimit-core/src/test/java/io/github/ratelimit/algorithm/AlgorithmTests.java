package io.github.ratelimit.algorithm;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.test.RateLimiterContract;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every algorithm has, and what makes it different from the others.
 */
class AlgorithmTests {

	@Test
	void contractCoversEveryAlgorithm() {
		assertThat(new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.github.ratelimit")
			.stream()
			.filter((type) -> type.isAssignableTo(Algorithm.class) && !type.isInterface())
			.map(JavaClass::getName)).containsExactlyInAnyOrderElementsOf(
					RateLimiterContract.algorithms().map((algorithm) -> algorithm.getClass().getName()).toList());
	}

	@Test
	void namesAndCodesAreUnique() {
		assertThat(RateLimiterContract.algorithms().map(Algorithm::name)).doesNotHaveDuplicates();
		assertThat(RateLimiterContract.algorithms().map(Algorithm::code)).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void scriptPartStandsBesideTheRecord(Algorithm algorithm) {
		assertThat(algorithm.getClass().getResource(algorithm.script() + ".lua")).isNotNull();
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void nameAndCodeHaveTheirForm(Algorithm algorithm) {
		assertThat(algorithm.name()).matches("[a-z]+(-[a-z]+)*");
		assertThat(algorithm.code()).matches("[a-z0-9]+");
		assertThat(algorithm.maxQuota()).isBetween(1L, Limit.MAX_QUOTA);
	}

}
