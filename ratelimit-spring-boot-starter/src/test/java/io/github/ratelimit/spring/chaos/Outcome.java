package io.github.ratelimit.spring.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What came of traffic during which something happened to Redis.
 *
 * @param users what became of the requests of each user
 * @param slowest the longest time that a response took
 * @param reporting the instances whose metrics said that the store failed
 * @param recovery how long it took until every instance limited again
 */
record Outcome(List<OfUser> users, Duration slowest, Set<Integer> reporting, Duration recovery) {

	/**
	 * What became of the requests of a user.
	 *
	 * @param counted responses that told what remains
	 * @param uncounted responses that did not, because the store failed
	 * @param used what Redis has counted
	 */
	record OfUser(String user, long counted, long uncounted, long used) {

		/**
		 * What clients were told is counted, and once; what they were not, at most once.
		 */
		void assertCounted() {
			assertLostAtMost(0);
		}

		/** As if so many had not been counted. */
		void assertLostAtMost(long lost) {
			assertThat(this.used).as("%s", this).isBetween(this.counted - lost, this.counted + this.uncounted);
		}

	}

	OfUser of(String user) {
		return this.users.stream().filter((each) -> each.user().equals(user)).findFirst().orElseThrow();
	}

	/** Nothing is lost, and nothing counted twice. */
	void assertCounted() {
		this.users.forEach(OfUser::assertCounted);
	}

	long counted() {
		return sum(OfUser::counted);
	}

	long uncounted() {
		return sum(OfUser::uncounted);
	}

	long used() {
		return sum(OfUser::used);
	}

	private long sum(ToLongFunction<OfUser> number) {
		return this.users.stream().mapToLong(number).sum();
	}

	@Override
	public String toString() {
		return "%,d counted, %,d not; Redis has counted %,d; slowest response %,d ms, all limit again after %,d ms"
			.formatted(counted(), uncounted(), used(), this.slowest.toMillis(), this.recovery.toMillis());
	}

}
