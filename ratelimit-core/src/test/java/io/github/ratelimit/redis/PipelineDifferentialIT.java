package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One after the other, and while the clock is not set back, requests are decided without
 * scripts as in memory. Not compared: sub-windows that no precision is set for, which are
 * others; and windows that begin with a request of which another limit is denied, or that
 * are refunded altogether, which go on here.
 */
class PipelineDifferentialIT {

	private static final List<Identifier> IDENTIFIERS = List.of(Identifier.user("alice"), Identifier.GLOBAL);

	private static final List<Policy> POLICIES = Stream
		.of(policy(new FixedWindow(), "3/s", "9/10s", "20/m"), policy(new FixedWindow(), "5/s").withCountDenied(true),
				policy(new FixedWindow(1, ZoneId.of("Europe/Berlin")), "4/week", "9/month"),
				policy(new SlidingWindowCounter(), "3/s", "9/10s"),
				policy(new SlidingWindowCounter(0.3, Rounding.DOWN), "5/10s", "20/m").withCountDenied(true),
				policy(new SlidingWindow(Duration.ofMillis(500)), "3/s", "9/10s"),
				policy(new SlidingWindow(Duration.ofSeconds(1)), "9/10s", "20/m"))
		.toList();

	private static final List<Policy> FIRST_REQUEST_POLICIES = List.of(policy(new FirstRequestWindow(), "3/s"),
			policy(new FirstRequestWindow(), "9/10s").withCountDenied(true));

	private static Policy policy(Algorithm algorithm, String... limits) {
		return new Policy(algorithm.code() + String.join(" ", limits).replace('/', '-'), algorithm,
				Stream.of(limits).map(Limit::parse).toList());
	}

	@Property(tries = 300)
	void pipelineAndMemoryComeToTheSameDecisions(@ForAll("sequences") List<Operation> operations) {
		ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");
		RateLimiter pipeline = PipelineFixture.create(TestRedis.newKeyPrefix()).withClock(clock);
		RateLimiter memory = new MemoryRateLimiter(clock);
		Decision last = Operation.NONE;
		for (Operation operation : operations) {
			operation.pass(clock, last);
			Object inMemory = operation.ask(memory, clock);
			assertThat(operation.ask(pipeline, clock)).as("%s of %s", operation, operations).isEqualTo(inMemory);
			last = Operation.decision(inMemory).orElse(last);
		}
	}

	@Provide
	Arbitrary<List<Operation>> sequences() {
		Arbitrary<Duration> times = Arbitraries.longs()
			.between(0, 15_000_000)
			.map((micros) -> Duration.ofNanos(1000 * micros));
		Arbitrary<Duration> windows = Arbitraries.of(Duration.ofSeconds(1), Duration.ofSeconds(10),
				Duration.ofMinutes(1));
		Arbitrary<Operation> operations = Arbitraries.frequencyOf(Tuple.of(10, requests().map(Operation::acquire)),
				Tuple.of(6, firstRequests().map(Operation::acquire)), Tuple.of(1, requests().map(Operation::peek)),
				Tuple.of(1, firstRequests().map(Operation::peek)), Tuple.of(2, requests().map(Operation::refund)),
				Tuple.of(1,
						Combinators
							.combine(
									Arbitraries
										.of(Stream.concat(POLICIES.stream(), FIRST_REQUEST_POLICIES.stream()).toList()),
									Arbitraries.of(IDENTIFIERS))
							.as(Operation::reset)),
				Tuple.of(3, times.map(Operation::advance)),
				Tuple.of(2, Combinators.combine(windows, Arbitraries.of(0L, -1L, 1L)).as(Operation::advanceToEdge)),
				Tuple.of(3, Arbitraries.of(0L, 1L).map(Operation::awaitRetry)));
		return operations.list().ofMinSize(10).ofMaxSize(60);
	}

	private static Arbitrary<RateLimitRequest> requests() {
		Arbitrary<Set<Policy>> policies = Arbitraries.of(POLICIES).set().ofMinSize(1).ofMaxSize(3);
		return Combinators
			.combine(policies, Arbitraries.of(IDENTIFIERS).set().ofMinSize(1), Arbitraries.longs().between(0, 4),
					Arbitraries.of(POLICIES).set().ofMaxSize(2))
			.as((chosen, identifiers, cost,
					shadows) -> new RateLimitRequest(chosen.stream()
						.map((policy) -> new Charge(policy, List.copyOf(identifiers), cost, shadows.contains(policy)))
						.toList()));
	}

	private static Arbitrary<RateLimitRequest> firstRequests() {
		return Combinators
			.combine(Arbitraries.of(FIRST_REQUEST_POLICIES), Arbitraries.of(IDENTIFIERS),
					Arbitraries.longs().between(0, 4))
			.as((policy, identifier, cost) -> RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost)));
	}

}
