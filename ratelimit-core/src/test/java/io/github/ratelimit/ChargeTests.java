package io.github.ratelimit;

import java.util.List;

import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ChargeTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("10/s"));

	@Test
	void costIsOneUnlessGiven() {
		Charge charge = Charge.of(this.policy, ALICE, ADDRESS);
		assertThat(charge).isEqualTo(new Charge(this.policy, List.of(ALICE, ADDRESS), 1));
		assertThat(charge.withCost(7)).isEqualTo(new Charge(this.policy, List.of(ALICE, ADDRESS), 7));
		assertThat(charge.shadow()).isFalse();
		assertThat(charge.inShadow().withCost(7)).isEqualTo(new Charge(this.policy, List.of(ALICE, ADDRESS), 7, true));
		assertThat(charge.withCost(0).cost()).isZero();
		assertThat(charge.withCost(Long.MAX_VALUE).cost()).isEqualTo(Long.MAX_VALUE);
	}

}
