package io.github.ratelimit;

import java.util.List;

import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitRequestTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/s"));

	@Test
	void costIsOneUnlessGiven() {
		Charge charge = Charge.of(this.policy, ALICE, ADDRESS);
		assertThat(charge).isEqualTo(new Charge(this.policy, List.of(ALICE, ADDRESS), 1));
		assertThat(RateLimitRequest.of(this.policy, ALICE, ADDRESS)).isEqualTo(RateLimitRequest.of(charge));
		assertThat(charge.withCost(7)).isEqualTo(new Charge(this.policy, List.of(ALICE, ADDRESS), 7));
		assertThat(charge.shadow()).isFalse();
		assertThat(charge.inShadow().withCost(7)).isEqualTo(new Charge(this.policy, List.of(ALICE, ADDRESS), 7, true));
		assertThat(charge.withCost(0).cost()).isZero();
		assertThat(charge.withCost(Long.MAX_VALUE).cost()).isEqualTo(Long.MAX_VALUE);
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
	}

}
