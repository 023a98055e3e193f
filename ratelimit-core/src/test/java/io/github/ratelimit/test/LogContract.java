package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is true of logs that requests with different quotas share, as those of several
 * plans do, or those of an application while its new version replaces the old one.
 */
public abstract class LogContract extends RateLimiterContract {

	public static Stream<Algorithm> algorithms() {
		return Stream.of(new SlidingLog(), new SlidingLog(true), new SlidingWindow());
	}

	@EachAlgorithm
	void denialByASmallerQuotaForgetsNothingOfTheLarger(Algorithm algorithm) {
		Policy large = policy(algorithm, "100/m");
		Policy small = withLimit(large, "10/m").withCountDenied(true);
		this.limiter.tryAcquire(large, ALICE, 100);
		for (int i = 0; i < 20; i++) {
			assertThat(this.limiter.tryAcquire(small, ALICE, 1 + i % 10).allowed()).isFalse();
			assertThat(remaining(large, ALICE)).containsExactly(0L);
			this.clock.advance(Duration.ofSeconds(1));
		}
		this.clock.advance(Duration.ofSeconds(39));
		assertThat(this.limiter.tryAcquire(large, ALICE).allowed()).isFalse();
	}

	/** The newest decide, of which there are as many. */
	@EachAlgorithm
	void loweredQuotaDeniesNoLongerThanItsOwnLog(Algorithm algorithm) {
		Policy large = policy(algorithm, "10/s", "30/m");
		Policy small = policy(algorithm, "2/s", "3/m").withCountDenied(true);
		for (int i = 0; i < 30; i++) {
			this.limiter.tryAcquire(large, ALICE);
			if (i >= 27) {
				this.limiter.tryAcquire(large, ADDRESS);
			}
			this.clock.advance(Duration.ofMillis(150));
		}
		Random random = new Random(1);
		for (int i = 0; i < 200; i++) {
			int cost = 1 + random.nextInt(2);
			assertThat(this.limiter.tryAcquire(small, ALICE, cost).statuses()).as("step %d", i)
				.usingRecursiveComparison()
				.ignoringFields("identifier", "remaining")
				.isEqualTo(this.limiter.tryAcquire(small, ADDRESS, cost).statuses());
			this.clock.advance(Duration.ofMillis(random.nextInt(3) * random.nextInt(20_000)));
		}
	}

	/** All that is older than a window leaves, and no more is kept than was. */
	@EachAlgorithm
	void countedDenialTakesThePlaceOfTheOldest(Algorithm algorithm) {
		Policy large = policy(algorithm, "20/m", "50/h");
		Policy small = policy(algorithm, "2/m", "5/h").withCountDenied(true);
		this.limiter.tryAcquire(large, ALICE, 8);
		this.clock.advance(Duration.ofMinutes(30));
		for (int i = 0; i < 6; i++) {
			assertThat(this.limiter.tryAcquire(small, ALICE).allowed()).isFalse();
		}
		assertThat(remaining(large, ALICE)).containsExactly(14L, 42L);
		this.clock.advance(Duration.ofMinutes(30).plusSeconds(1));
		assertThat(remaining(large, ALICE)).containsExactly(20L, 44L);
		this.clock.advance(Duration.ofMinutes(31));
		assertThat(remaining(large, ALICE)).containsExactly(20L, 50L);
	}

	/** Whoever charges or is denied meanwhile, by whatever quota. */
	@EachAlgorithm
	void nobodyIsAdmittedBeyondTheirQuotaWhenQuotasTakeTurns(Algorithm algorithm) {
		for (int seed = 0; seed < 25; seed++) {
			Random random = new Random(seed);
			List<Policy> plans = Stream.of(1 + random.nextInt(4), 1 + random.nextInt(10), 5 + random.nextInt(30))
				.map((quota) -> Policy
					.of("api", algorithm, new Limit(1 + quota / 2, Duration.ofSeconds(1)),
							new Limit(quota, Duration.ofMinutes(1)))
					.withCountDenied(random.nextBoolean()))
				.toList();
			this.limiter.reset(plans.get(0), ALICE);
			Deque<Instant> admitted = new ArrayDeque<>();
			for (int i = 0; i < 80; i++) {
				Policy plan = plans.get(random.nextInt(plans.size()));
				if (random.nextInt(4) == 0) {
					this.limiter.charge(request(plan, 1 + random.nextInt(12)));
				}
				else if (this.limiter.tryAcquire(plan, ALICE).allowed()) {
					admitted.add(this.clock.instant());
					while (!admitted.element().isAfter(this.clock.instant().minusSeconds(60))) {
						admitted.remove();
					}
					assertThat(admitted.size()).as("seed %d, step %d", seed, i)
						.isLessThanOrEqualTo((int) plan.limits().get(1).quota());
				}
				this.clock.advance(Duration.ofMillis(random.nextInt(3) * random.nextInt(4000)));
			}
		}
	}

}
