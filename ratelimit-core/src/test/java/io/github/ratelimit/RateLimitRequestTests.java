package io.github.ratelimit;

import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RateLimitRequestTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/s"));

	/** All of them are checked at once, and everybody waits meanwhile. */
	@Test
	void tooManyLimitsOfIdentifiersAreRefused() {
		Policy three = Policy.of("three", new FixedWindow(), Limit.parse("1/s"), Limit.parse("2/m"),
				Limit.parse("3/h"));
		Charge most = new Charge(three, users(85), 1);
		assertThat(RateLimitRequest.of(most, Charge.of(this.policy, ALICE)).charges()).hasSize(2);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RateLimitRequest.of(most, Charge.of(this.policy, ALICE, ADDRESS)))
			.withMessage("Invalid request (257 limits to check, counted for each identifier): "
					+ "there must be at most 256.");
		assertThat(RateLimitRequest.of(new Charge(this.policy, users(256), 1)).charges()).hasSize(1);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RateLimitRequest.of(new Charge(this.policy, users(1000), 1)))
			.withMessageStartingWith("Invalid request (1000 limits to check");
	}

	private static List<Identifier> users(int number) {
		return IntStream.range(0, number).mapToObj((i) -> Identifier.user("user" + i)).toList();
	}

	@Test
	void requestOnOnePolicyCostsOne() {
		assertThat(RateLimitRequest.of(this.policy, ALICE, ADDRESS))
			.isEqualTo(new RateLimitRequest(List.of(new Charge(this.policy, List.of(ALICE, ADDRESS), 1))));
	}

	@Test
	void chargesKeepTheirOrder() {
		Policy other = Policy.of("a", new SlidingLog(), Limit.parse("10/s"));
		Charge first = Charge.of(this.policy, ALICE);
		Charge second = Charge.of(other, ALICE);
		assertThat(RateLimitRequest.of(first, second).charges()).containsExactly(first, second).isUnmodifiable();
	}

	@Test
	void requestWithoutChargesIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(RateLimitRequest::of)
			.withMessage("Invalid request: there must be at least one policy to check.");
	}

	@Test
	void policyThatStandsTwiceIsRefused() {
		Policy sameName = Policy.of("api", new SlidingLog(), Limit.parse("5/m"));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RateLimitRequest.of(Charge.of(this.policy, ALICE), Charge.of(sameName, ADDRESS)))
			.withMessage("Invalid request: the policy 'api' is used twice.");
	}

	@Test
	void costsThatNoLimitCouldAllowBecomeTheLargest() {
		Policy small = Policy.of("small", new FixedWindow(), Limit.parse("3/s"), Limit.parse("5/m"));
		Charge within = Charge.of(this.policy, ALICE, ADDRESS);
		RateLimitRequest request = RateLimitRequest.of(within, Charge.of(small, ALICE).withCost(6))
			.withMetadata("request-1");
		assertThat(request.withPossibleCosts())
			.isEqualTo(RateLimitRequest.of(within, Charge.of(small, ALICE).withCost(5)).withMetadata("request-1"));
	}

	@Test
	void changedRequestIsTheSameCall() {
		RateLimitRequest request = RateLimitRequest.of(this.policy, ALICE).withCall(RateLimitRequest.MAX_CALL);
		assertThat(request.withMetadata("a").withPossibleCosts().withCharges(request.charges()).call())
			.isEqualTo(281_474_976_710_655L);
		assertThat(RateLimitRequest.of(this.policy, ALICE).call()).isZero();
		assertThatIllegalArgumentException().isThrownBy(() -> request.withCall(RateLimitRequest.MAX_CALL + 1))
			.withMessage("Invalid call (281474976710656): must be from 0 to 281474976710655.");
	}

}
