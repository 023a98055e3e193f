package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

class LeaseDifferentialTests {

	/** With a cost of 1, a single process never notices that there are leases. */
	@Test
	void decisionsAreThoseOfTheStore() {
		Cluster cluster = new Cluster();
		Cluster.Process process = cluster.start(new Random(1), 0);
		RateLimiter plain = new MemoryRateLimiter(cluster.time);
		List<Policy> policies = List.of(
				Policy.of("one", new FixedWindow(), Limit.parse("300/s"), Limit.parse("700/3s"))
					.withLease(Duration.ofSeconds(1)),
				Policy.of("two", new FirstRequestWindow(), Limit.parse("500/2s")).withLease(Duration.ofMillis(300)),
				Policy.of("three", new FixedWindow(), Limit.parse("900/4s")));
		List<Identifier> identifiers = List.of(Identifier.user("alice"), Identifier.GLOBAL);
		Random random = new Random(5);
		int leased = 0;
		for (int i = 0; i < 20_000; i++) {
			List<Charge> charges = new ArrayList<>();
			for (Policy policy : policies.subList(0, 1 + random.nextInt(3))) {
				charges.add(new Charge(policy, identifiers.subList(0, 1 + random.nextInt(2)), 1));
			}
			RateLimitRequest request = new RateLimitRequest(charges);
			Decision expected = plain.tryAcquire(request);
			Decision decision = process.acquire(request);
			leased += (decision.source() == Source.LEASE) ? 1 : 0;
			assertThat(decision.allowed()).as("request %d", i).isEqualTo(expected.allowed());
			if (decision.allowed()) {
				assertThat(decision.statuses()).extracting("limit", "identifier", "remaining", "resetAfter")
					.isEqualTo(expected.statuses()
						.stream()
						.map((each) -> tuple(each.limit(), each.identifier(), each.remaining(), each.resetAfter()))
						.toList());
			}
			cluster.time.advance(1_000_000L * random.nextInt(5));
		}
		assertThat(leased).isGreaterThan(2000);
	}

}
