package io.github.ratelimit.redis;

import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.test.CountContract;
import io.github.ratelimit.test.DecisionContract;
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.ShadowContract;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.StoreUnderTest;
import org.junit.jupiter.api.Nested;

/**
 * The contracts for the algorithms that plain commands can express, and the one of their
 * own instead of that of clocks. The algorithms hide those of each contract.
 */
abstract class PipelineContracts extends StoreTest implements StoreUnderTest {

	@Override
	public Stream<Algorithm> supportedAlgorithms() {
		return PipelineContract.algorithms();
	}

	@Nested
	class Decisions extends DecisionContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class Shadows extends ShadowContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class Counts extends CountContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class PlainCommands extends PipelineContract {

	}

}
