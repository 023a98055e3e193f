package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.ResponseCondition;
import io.github.ratelimit.spring.web.CostSettlement.Settlement;
import io.github.ratelimit.spring.web.RequestState.DeferredUse;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link CostSettlement}, and for the {@link RequestState} that keeps what is
 * to be settled.
 */
@ExtendWith(OutputCaptureExtension.class)
class CostSettlementTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final String ERROR = "A true cost is not settled: Invalid policy ";

	private final CostSettlement costs = CostSettlement.of(new MockHttpServletRequest());

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")))
		.withBean(Limited.class)
		.withPropertyValues("ratelimit.policies.tokens.limits=10/s", "ratelimit.policies.bytes.limits=10/s");

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

	/** Of a request that is not limited after all, nothing is reset either. */
	@ParameterizedTest
	@CsvSource({ "200, served, -1, 0", "401, served, 1, 1", "200, failed, 0, 0", "200, refunded, 0, 0",
			", served, 1, 1" })
	void responseResetsNamedIdentifiersAlone(@Nullable Integer status, String end, long user, long address) {
		MockHttpServletResponse response = (status != null) ? new MockHttpServletResponse() : null;
		if (response != null) {
			response.setStatus(status);
		}
		this.costs.add(resetting(charge(1, ALICE, ADDRESS), 401), response);
		if (end.equals("refunded")) {
			this.costs.refund();
		}
		else if (end.equals("failed")) {
			this.costs.fail();
		}
		Map<Identifier, Long> settled = new HashMap<>();
		this.costs.end()
			.forEach((settlement) -> settlement.used()
				.charge()
				.identifiers()
				.forEach((identifier) -> settled.put(identifier, settlement.cost())));
		assertThat(settled).isEqualTo(Map.of(ALICE, user, ADDRESS, address));
	}

	/** Nobody may have received its status, but the work was done. */
	@ParameterizedTest
	@CsvSource({ "401, 0", "200, 1" })
	void requestThatTheContainerFailsIsCountedAndResetsNothing(int counted, long cost) throws IOException {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setAsyncSupported(true);
		RequestState state = RequestState.of(request);
		state.costs().add(resetting(charge(1, ALICE), counted), new MockHttpServletResponse());
		MockAsyncContext async = (MockAsyncContext) request.startAsync();
		state.endDispatch(request, RejectionsTests.decisions());
		for (AsyncListener listener : async.getListeners()) {
			listener.onError(new AsyncEvent(async));
		}
		assertThat(state.costs().end()).extracting(Settlement::cost).containsExactly(cost);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none", value = { "none, user, 'Invalid reset [user]: has no effect without reset-when.'",
			"status in [200], none, 'Invalid reset []: must name the identifiers that start anew.'" })
	void resetNeedsResponseAndIdentifiers(@Nullable String when, @Nullable String reset, String rule) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null, MissingIdentifier.SKIP, true,
					(when != null) ? ResponseCondition.parse(when) : null,
					(reset != null) ? List.of(reset) : List.of()))
			.withMessageStartingWith(rule);
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
			mixed.add(charge(3, ALICE).countedIn(Decision.Source.LOCAL), null);
			mixed.settle("tokens", cost);
			assertThat(mixed.end()).extracting((settlement) -> settlement.used().source(), Settlement::cost)
				.containsExactly(tuple(Decision.Source.STORE, Math.min(cost, 2)),
						tuple(Decision.Source.LOCAL, Math.max(cost - 2, 0)));
		}
	}

	@Test
	void parallelThreadsGetTheSameCosts() {
		Phaser nobodyHasFoundAny = new Phaser(2);
		AtomicInteger looks = new AtomicInteger();
		MockHttpServletRequest request = new MockHttpServletRequest() {

			@Override
			public Object getAttribute(String name) {
				Object found = super.getAttribute(name);
				if (looks.incrementAndGet() <= 2) {
					nobodyHasFoundAny.arriveAndAwaitAdvance();
				}
				return found;
			}

		};
		List<CompletableFuture<CostSettlement>> asked = Stream.of(request, new HttpServletRequestWrapper(request))
			.map((each) -> CompletableFuture.supplyAsync(() -> CostSettlement.of(each)))
			.toList();
		assertThat(asked.get(0).join()).isSameAs(asked.get(1).join());
	}

	@Test
	void unknownPolicyIsLoggedOnceAsError(CapturedOutput output) {
		this.runner.run((context) -> {
			for (int i = 0; i < 3; i++) {
				assertThat(CostSettlement.of(request(context)).settle("token", 5)).isFalse();
			}
			CostSettlement.of(request(context)).settle("rows", 5);
			assertThat(StringUtils.countOccurrencesOf(output.toString(), ERROR)).isEqualTo(2);
			assertThat(output).contains("ERROR")
				.contains(ERROR + "(token): must be one of [Limited.call, bytes, tokens]. Did you mean 'tokens'?")
				.contains(ERROR + "(rows): must be one of [Limited.call, bytes, tokens].");
		});
	}

	/** It counts nothing, or the limiter is off. */
	@ParameterizedTest
	@CsvSource({ "tokens, true", "Limited.call, true", "token, false" })
	void nothingIsSaidOfPolicyThatDoesNotCount(String policy, boolean enabled, CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.enabled=" + enabled).run((context) -> {
			assertThat(CostSettlement.of(request(context)).settle(policy, 5)).isFalse();
			assertThat(output).doesNotContain(ERROR);
		});
	}

	private static HttpServletRequest request(AssertableWebApplicationContext context) {
		return new MockHttpServletRequest(context.getServletContext());
	}

	/** As the access denied page of Spring Security. An error page drops them. */
	@Test
	void useIsDeferredToForwardBetweenTheFilters() {
		RequestState state = RequestState.of(new MockHttpServletRequest());
		DeferredUse use = new DeferredUse(new PolicyUse(policy(), 1, Map.of(), List.of("/**")), false, false);
		assertThat(state.addPolicy("api")).isTrue();
		state.defer(List.of(use), DispatcherType.REQUEST);
		assertThat(state.addPolicy("api")).isFalse();
		state.defer(List.of(), DispatcherType.FORWARD);
		assertThat(state.takeDeferred()).containsExactly(use);
		assertThat(state.takeDeferred()).isEmpty();
		state.defer(List.of(use), DispatcherType.REQUEST);
		state.defer(List.of(), DispatcherType.ERROR);
		assertThat(state.takeDeferred()).isEmpty();
	}

	@Test
	void requestRunsWhileServedOrOpen() {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setAsyncSupported(true);
		RequestState running = RequestState.of(request);
		assertThat(running.isRunning()).isTrue();
		running.serve(null);
		assertThat(running.isRunning()).isFalse();
		request.startAsync();
		running.endDispatch(request, null);
		assertThat(running.isRunning()).isTrue();
		request.setAsyncStarted(false);
		assertThat(running.isRunning()).isFalse();
		running.serve(new Thread(() -> {
		}));
		assertThat(running.isRunning()).isFalse();
	}

	private static PolicyCharge resetting(PolicyCharge charge, int counted) {
		return new PolicyCharge(charge.policy()
			.withEnforcement(new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW,
					ResponseCondition.parse("status in [%d]".formatted(counted)), MissingIdentifier.SKIP, true,
					ResponseCondition.parse("status in [200]"), List.of("user"))),
				charge.charge());
	}

	private static PolicyCharge charge(long cost, Identifier... identifiers) {
		IdentifiedPolicy policy = policy();
		return new PolicyCharge(policy, new Charge(policy.policy(), List.of(identifiers), cost));
	}

	private static IdentifiedPolicy policy() {
		return new IdentifiedPolicy(Policy.of("tokens", new SlidingLog(), Limit.parse("100/m")), List.of("user", "ip"));
	}

	static class Limited {

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

}
