package io.github.ratelimit.redis;

import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.test.ChangeContract;
import io.github.ratelimit.test.ChargeContract;
import io.github.ratelimit.test.CountDeniedContract;
import io.github.ratelimit.test.DecisionContract;
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.RefundContract;
import io.github.ratelimit.test.ShadowContract;
import io.github.ratelimit.test.StoreUnderTest;
import io.github.ratelimit.test.WaitContract;
import org.junit.jupiter.api.Nested;

/**
 * The contracts for the algorithms that plain commands can express, and the one of their
 * own instead of that of clocks. The algorithms hide those of each contract.
 */
abstract class PipelineContracts implements StoreUnderTest {

	@Nested
	class Decisions extends DecisionContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class Waits extends WaitContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class CountedDenials extends CountDeniedContract {

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
	class Charges extends ChargeContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class Refunds extends RefundContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

	}

	@Nested
	class Changes extends ChangeContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineContract.algorithms();
		}

		@Override
		protected Stream<Algorithm> supportedAlgorithms() {
			return algorithms();
		}

	}

	@Nested
	class PlainCommands extends PipelineContract {

	}

}
