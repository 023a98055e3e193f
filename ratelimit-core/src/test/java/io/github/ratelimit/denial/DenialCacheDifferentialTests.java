package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.RateLimiterContract;
import org.junit.jupiter.api.RepeatedTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random requests with a cache before the store, and without one.
 */
class DenialCacheDifferentialTests extends DenialCacheFixture {

	static Stream<Algorithm> algorithms() {
		return RateLimiterContract.algorithms();
	}

	/**
	 * Whatever is done, and in whatever order, the same is allowed as without the cache,
	 * and who is denied is told the same.
	 */
	@EachAlgorithm
	void decisionsAreThoseOfTheStore(Algorithm algorithm) {
		Random random = new Random(42);
		DenialCache curious = newCache(Duration.ofDays(1), 1000, Integer.MAX_VALUE);
		RateLimiter limiter = curious.cache(this.memory);
		RateLimiter[] watched = { limiter, curious.watchCounts(this.memory) };
		BlockList blocks = curious.watchBlocks(this.memory);
		MemoryRateLimiter plain = new MemoryRateLimiter(this.clock);
		Policy[] policies = { policy("one", algorithm, "5/s", "20/m"), policy("one", algorithm, "6/s", "20/m"),
				policy("two", algorithm, "3/s"), policy("strict", algorithm, "9/s").withCountDenied(true) };
		Identifier[] identifiers = { ALICE, ADDRESS };
		int cached = 0;
		for (int i = 0; i < 60_000; i++) {
			Policy policy = policies[random.nextInt(4)];
			Identifier identifier = identifiers[random.nextInt(2)];
			Charge charge = Charge.of(policy, identifier).withCost(random.nextInt(7));
			RateLimitRequest request = (random.nextInt(3) > 0 || policy == policies[2]) ? RateLimitRequest.of(charge)
					: RateLimitRequest.of(charge, Charge.of(policies[2], identifiers).withCost(random.nextInt(3)));
			int shadow = random.nextInt(6);
			List<Charge> charges = new ArrayList<>(request.charges());
			if (shadow < charges.size()) {
				charges.set(shadow, charges.get(shadow).inShadow());
				request = new RateLimitRequest(charges);
			}
			switch (random.nextInt(20)) {
				case 0 -> {
					plain.refund(request);
					watched[i % 2].refund(request);
				}
				case 1 -> {
					plain.reset(policy, identifier);
					watched[i % 2].reset(policy, identifier);
				}
				case 2 -> {
					plain.charge(request);
					watched[i % 2].charge(request);
				}
				case 3 -> {
					Duration time = Duration.ofMillis(1 + random.nextInt(500));
					plain.block(identifier, "two", time, "");
					blocks.block(identifier, "two", time, "");
				}
				case 4 -> this.clock.advance(Duration.of(random.nextInt(400_000), ChronoUnit.MICROS));
				case 5 -> {
					plain.unblock(identifier, "two");
					blocks.unblock(identifier, "two");
				}
				default -> {
					Decision expected = (i % 8 == 0) ? plain.peek(request) : plain.tryAcquire(request);
					Decision decision = (i % 8 == 0) ? limiter.peek(request) : limiter.tryAcquire(request);
					assertThat(decision.allowed()).isEqualTo(expected.allowed());
					assertThat(decision.retryAfter()).isEqualTo(expected.retryAfter());
					assertThat(decision.blockedFor()).isEqualTo(expected.blockedFor());
					assertThat(decision.violated()).isEqualTo(expected.violated());
					if (decision.source() != Source.DENIAL_CACHE) {
						assertThat(decision.shadows()).isEqualTo(expected.shadows());
					}
					cached += (decision.source() == Source.DENIAL_CACHE) ? 1 : 0;
				}
			}
		}
		assertThat(cached).isGreaterThan(500);
	}

	/** Everything is given back in the end, so that nothing may still be denied. */
	@RepeatedTest(20)
	void nothingIsDeniedBecauseOfWhatOthersHaveGivenBack() {
		RateLimitRequest[] requests = { REQUEST, RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(2)),
				RateLimitRequest.of(POLICY, ALICE, ADDRESS) };
		IntStream.range(0, 8).parallel().forEach((thread) -> {
			Random random = new Random(thread);
			for (int i = 0; i < 500; i++) {
				RateLimitRequest request = requests[random.nextInt(3)];
				if (this.limiter.tryAcquire(request).allowed()) {
					Thread.yield();
					this.limiter.refund(request);
				}
			}
		});
		for (RateLimitRequest request : requests) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
			this.limiter.refund(request);
		}
	}

}
