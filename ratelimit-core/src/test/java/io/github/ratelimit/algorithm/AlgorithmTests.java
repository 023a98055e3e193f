package io.github.ratelimit.algorithm;

import java.util.Optional;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.RateLimiterContract;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every algorithm has, and what makes it different from the others.
 */
class AlgorithmTests {

	/** Concurrent calls have a contract of their own, {@code ConcurrentCallsContract}. */
	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), Stream.of(new ConcurrentCalls()));
	}

	@Test
	void contractsCoverEveryAlgorithm() {
		assertThat(new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.github.ratelimit")
			.stream()
			.filter((type) -> type.isAssignableTo(Algorithm.class) && !type.isInterface())
			.map(JavaClass::getName)).containsExactlyInAnyOrderElementsOf(
					algorithms().map((algorithm) -> algorithm.getClass().getName()).toList());
	}

	@Test
	void algorithmIsFoundByItsNameOrAlias() {
		assertThat(Algorithms.all()).containsExactlyElementsOf(RateLimiterContract.algorithms().toList())
			.allSatisfy((algorithm) -> assertThat(Algorithms.find(algorithm.name())).contains(algorithm));
		assertThat(Algorithms.find("sliding-tail")).contains(new SlidingWindowCounter());
		assertThat(Algorithms.find("gcra")).contains(new LeakyBucket());
		assertThat(Stream.of("", "Fixed-Window", "fixed_window", "sliding").map(Algorithms::find))
			.containsOnly(Optional.empty());
	}

	@Test
	void namesAndCodesAreUnique() {
		assertThat(algorithms().map(Algorithm::name)).doesNotHaveDuplicates();
		assertThat(algorithms().map(Algorithm::code)).doesNotHaveDuplicates();
	}

	@EachAlgorithm
	void scriptPartStandsBesideTheRecord(Algorithm algorithm) {
		assertThat(algorithm.getClass().getResource(algorithm.script() + ".lua")).isNotNull();
	}

	@EachAlgorithm
	void nameAndCodeHaveTheirForm(Algorithm algorithm) {
		assertThat(algorithm.name()).matches("[a-z]+(-[a-z]+)*");
		assertThat(algorithm.code()).matches("[a-z0-9]+");
		assertThat(algorithm.maxQuota()).isBetween(1L, Limit.MAX_QUOTA);
	}

}
