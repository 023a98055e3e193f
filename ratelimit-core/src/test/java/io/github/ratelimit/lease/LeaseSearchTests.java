package io.github.ratelimit.lease;

import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A search for traffic, failures and times by which leases break what they promise.
 */
class LeaseSearchTests {

	private static final int SEEDS = 40;

	private static final int STEPS = 120;

	private static final List<Identifier> IDENTIFIERS = List.of(Identifier.user("alice"), Identifier.GLOBAL);

	private static final List<List<String>> LIMITS = List.of(List.of("300/s"), List.of("2000/10s"),
			List.of("150/s", "1000/7s"), List.of("60/3s", "400/13s", "700/m"));

	private static final List<Algorithm> ALGORITHMS = List.of(new FixedWindow(), new FirstRequestWindow(),
			new FixedWindow(3, ZoneOffset.UTC));

	private static final Policy ALWAYS_ASKED = Policy.of("asked", new FixedWindow(), Limit.parse("3000/5s"));

	private long fromLeases;

	private long denied;

	@Test
	void quotasHoldAndPartsAreUsedOrGivenBack() {
		for (int seed = 0; seed < SEEDS; seed++) {
			try {
				new Search(seed).run();
			}
			catch (AssertionError ex) {
				throw new AssertionError("seed " + seed + ": " + ex.getMessage(), ex);
			}
		}
		assertThat(this.fromLeases).as("decisions from leases").isGreaterThan(500L * SEEDS);
		assertThat(this.denied).as("denied requests").isGreaterThan(10L * SEEDS);
	}

	private final class Search {

		private final Random random;

		private final Cluster cluster = new Cluster();

		private final List<Policy> policies;

		private final int trouble;

		Search(int seed) {
			this.random = new Random(seed);
			this.trouble = (seed % 3 == 0) ? 0 : this.random.nextInt(10);
			this.policies = List.of(policy("one"), policy("two"));
			for (int i = this.random.nextInt(4); i >= 0; i--) {
				start();
			}
		}

		private Policy policy(String name) {
			List<Limit> limits = LIMITS.get(this.random.nextInt(LIMITS.size())).stream().map(Limit::parse).toList();
			return new Policy(name, ALGORITHMS.get(this.random.nextInt(ALGORITHMS.size())), limits)
				.withLease(Duration.ofMillis(100 + this.random.nextInt(2000)));
		}

		private void start() {
			this.cluster.start(this.random, this.random.nextInt(1001) - 500).trouble = this.trouble;
		}

		void run() {
			for (int step = 0; step < STEPS; step++) {
				switch (this.random.nextInt(12)) {
					case 0 -> this.cluster.time.advance(millis(3000));
					case 1 -> toEdge();
					case 2 -> end();
					default -> traffic();
				}
			}
			if (this.trouble == 0) {
				requireGivenBack();
			}
		}

		private long millis(int most) {
			return Duration.ofMillis(this.random.nextInt(most)).toNanos();
		}

		/** To the end of a window, and some microseconds before or after. */
		private void toEdge() {
			LimitStatus status = this.cluster.statuses(this.policies.get(0), IDENTIFIERS.get(0)).get(0);
			long nanos = status.resetAfter().toNanos() + 1000L * (this.random.nextInt(5) - 2);
			this.cluster.time.advance(Math.max(0, nanos));
		}

		private void end() {
			Cluster.Process process = process();
			if (this.random.nextBoolean()) {
				process.kill(this.policies, IDENTIFIERS);
			}
			else {
				process.close();
			}
			start();
		}

		private Cluster.Process process() {
			return this.cluster.processes.get(this.random.nextInt(this.cluster.processes.size()));
		}

		/** Some processes at some rate for a while. */
		private void traffic() {
			int requests = this.random.nextInt(200);
			long pause = millis(8);
			boolean single = this.random.nextInt(3) > 0;
			Cluster.Process only = this.random.nextBoolean() ? process() : null;
			RateLimitRequest request = single ? RateLimitRequest.of(this.policies.get(0), IDENTIFIERS.get(0))
					: request();
			for (int i = 0; i < requests; i++) {
				send((only != null) ? only : process(), request);
				this.cluster.time.advance(pause);
			}
		}

		private RateLimitRequest request() {
			List<Policy> some = new ArrayList<>(this.policies);
			some.add(ALWAYS_ASKED);
			Collections.shuffle(some, this.random);
			return new RateLimitRequest(some.subList(0, 1 + this.random.nextInt(3))
				.stream()
				.map((policy) -> new Charge(policy, IDENTIFIERS.subList(this.random.nextInt(2), 2),
						1 + this.random.nextInt(3)))
				.toList());
		}

		private void send(Cluster.Process process, RateLimitRequest request) {
			try {
				Decision decision = process.acquire(request);
				if (decision.source() == Decision.Source.LEASE) {
					LeaseSearchTests.this.fromLeases++;
				}
				if (!decision.allowed()) {
					LeaseSearchTests.this.denied++;
					decision.violated().forEach((status) -> requireNotTooEarly(request, status));
				}
				else if (this.random.nextInt(10) == 0 && process.trouble == 0) {
					process.refund(request);
				}
			}
			catch (StoreException ex) {
				// Decided by nobody, and nothing is used.
			}
		}

		/** Without trouble, in which the decision is not of this time. */
		private void requireNotTooEarly(RateLimitRequest request, LimitStatus status) {
			if (this.trouble > 0) {
				return;
			}
			long held = this.cluster.processes.stream()
				.mapToLong((process) -> process.allowance(status.policy(), status.identifier()))
				.sum();
			long cost = request.charges()
				.stream()
				.filter((charge) -> charge.policy().equals(status.policy()))
				.mapToLong(Charge::cost)
				.sum();
			assertThat(status.limit().quota() - this.cluster.used(status) - cost).as("denied too early by %s", status)
				.isLessThan(held + this.cluster.lost(status));
		}

		/** Nobody holds anything after at most two times of the lease. */
		private void requireGivenBack() {
			this.cluster.time.advance(Duration.ofMillis(4300).toNanos());
			for (Policy policy : this.policies) {
				for (Identifier identifier : IDENTIFIERS) {
					for (Cluster.Process process : this.cluster.processes) {
						assertThat(process.limiter.peek(RateLimitRequest.of(policy, identifier)).source())
							.isEqualTo(Decision.Source.STORE);
					}
					for (LimitStatus status : this.cluster.statuses(policy, identifier)) {
						assertThat(status.limit().quota() - status.remaining()).as("counted by %s", status)
							.isEqualTo(this.cluster.used(status) + this.cluster.lost(status));
					}
				}
			}
		}

	}

}
