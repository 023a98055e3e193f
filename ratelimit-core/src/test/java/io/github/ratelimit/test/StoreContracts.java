package io.github.ratelimit.test;

import org.junit.jupiter.api.Nested;

/**
 * All contracts of a store that supports every algorithm. The tests of each such store
 * extend this.
 */
public abstract class StoreContracts implements StoreUnderTest {

	@Nested
	class Decisions extends DecisionContract {

	}

	@Nested
	class Shadows extends ShadowContract {

	}

	@Nested
	class Counts extends CountContract {

	}

	@Nested
	class Clocks extends ClockContract {

	}

	@Nested
	class Logs extends LogContract {

	}

	@Nested
	class Buckets extends BucketContract {

	}

	@Nested
	class Calls extends ConcurrentCallsContract {

	}

	@Nested
	class Blocks extends BlockListContract {

	}

	@Nested
	class History extends RequestHistoryContract {

	}

	@Nested
	class Penalties extends PenaltyContract {

	}

}
