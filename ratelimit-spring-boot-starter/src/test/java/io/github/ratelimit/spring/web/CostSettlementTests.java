package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.ResponseCondition;
import io.github.ratelimit.spring.web.CostSettlement.Settlement;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link CostSettlement}.
 */
class CostSettlementTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final CostSettlement costs = CostSettlement.of(new MockHttpServletRequest());

	@ParameterizedTest
	@CsvSource({ "10 3, 3", "refund 100, 0", "100 refund, 0", "'', " })
	void lastCostWinsUnlessItIsRefunded(String steps, @Nullable Long cost) {
		this.costs.add(charge(1, ALICE), null);
		boolean refunded = false;
		for (String step : steps.isEmpty() ? new String[0] : steps.split(" ")) {
			if (step.equals("refund")) {
				this.costs.refund();
				refunded = true;
			}
			else {
				assertThat(this.costs.settle("tokens", Long.parseLong(step))).isEqualTo(!refunded);
			}
		}
		assertThat(this.costs.end()).extracting(Settlement::cost).isEqualTo((cost != null) ? List.of(cost) : List.of());
		assertThat(this.costs.settle("tokens", 3)).isFalse();
		assertThat(this.costs.end()).isEmpty();
	}

	@Test
	void trueCostAppliesToEachIdentifierOfAllCharges() {
		this.costs.add(charge(1, ADDRESS), null);
		this.costs.add(charge(2, ALICE, ADDRESS), null);
		this.costs.add(charge(4, ADDRESS, ALICE), null);
		this.costs.settle("tokens", 10);
		assertThat(this.costs.end())
			.extracting((settlement) -> settlement.used().charge().identifiers(),
					(settlement) -> settlement.used().charge().cost(), Settlement::cost)
			.containsExactlyInAnyOrder(tuple(List.of(ADDRESS), 7L, 10L), tuple(List.of(ALICE), 6L, 10L));
	}

	@ParameterizedTest
	@CsvSource({ "401, 7", "200, 0" })
	void trueCostIsIgnoredForResponsesThatDoNotCount(int status, long cost) {
		MockHttpServletResponse response = new MockHttpServletResponse();
		response.setStatus(status);
		PolicyCharge any = charge(1, ALICE);
		Enforcement ofFailures = new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW,
				ResponseCondition.parse("status in [401]"));
		this.costs.add(new PolicyCharge(any.policy().withEnforcement(ofFailures), any.charge()), response);
		this.costs.settle("tokens", 7);
		assertThat(this.costs.end()).singleElement().extracting(Settlement::cost).isEqualTo(cost);
	}

	@Test
	void manyCallsOfOneRequestAreSettledTogether() {
		for (int i = 0; i < 1000; i++) {
			this.costs.add(charge(1, ADDRESS), null);
			this.costs.add(charge(1, ALICE), null);
		}
		this.costs.settle("tokens", 10);
		assertThat(this.costs.end()).containsExactly(new Settlement(charge(1000, ADDRESS, ALICE), 10));
	}

	@Test
	void costCountedInStoreAndLocallyIsSettledOnce() {
		for (long cost : new long[] { 0, 1, 2, 4, 5, 10 }) {
			CostSettlement mixed = CostSettlement.of(new MockHttpServletRequest());
			mixed.add(charge(2, ALICE), null);
			mixed.add(local(charge(3, ALICE)), null);
			mixed.settle("tokens", cost);
			assertThat(mixed.end()).extracting((settlement) -> settlement.used().source(), Settlement::cost)
				.containsExactly(tuple(Decision.Source.STORE, Math.min(cost, 2)),
						tuple(Decision.Source.LOCAL, Math.max(cost - 2, 0)));
		}
	}

	private static PolicyCharge local(PolicyCharge charge) {
		return charge.countedIn(Decision.Source.LOCAL);
	}

	@Test
	void parallelThreadsGetTheSameCosts() {
		CyclicBarrier nobodyHasFoundAny = new CyclicBarrier(2);
		AtomicInteger looks = new AtomicInteger();
		MockHttpServletRequest request = new MockHttpServletRequest() {

			@Override
			public Object getAttribute(String name) {
				Object found = super.getAttribute(name);
				if (looks.incrementAndGet() <= 2) {
					await(nobodyHasFoundAny);
				}
				return found;
			}

		};
		List<CompletableFuture<CostSettlement>> asked = Stream.of(request, new HttpServletRequestWrapper(request))
			.map((each) -> CompletableFuture.supplyAsync(() -> CostSettlement.of(each)))
			.toList();
		assertThat(asked.get(0).join()).isSameAs(asked.get(1).join());
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (InterruptedException | BrokenBarrierException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static PolicyCharge charge(long cost, Identifier... identifiers) {
		Policy policy = Policy.of("tokens", new SlidingLog(), Limit.parse("100/m"));
		return new PolicyCharge(new IdentifiedPolicy(policy, List.of("user", "ip")),
				new Charge(policy, List.of(identifiers), cost));
	}

}
