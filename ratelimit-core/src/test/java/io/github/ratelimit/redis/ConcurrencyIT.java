package io.github.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.AutoClose;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes' worth of clients, with many threads, that want more than there is.
 */
class ConcurrencyIT extends RedisFixture {

	private static final int THREADS = 16;

	@AutoClose
	private final RedisConnections other = TestRedis.connections(TestRedis.uri()).build();

	private final List<RateLimiter> limiters = List.of(this.limiter, RedisRateLimiter.of(this.other, this.keyPrefix));

	@EachAlgorithm
	void exactlyTheQuotasOfManyIdentifiersAreAllowed(Algorithm algorithm) throws Exception {
		for (boolean countDenied : List.of(false, true)) {
			Policy policy = policy("api" + countDenied, algorithm, "30/3650d").withCountDenied(countDenied);
			Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
			fromAllThreads((limiter, attempt) -> {
				Identifier identifier = Identifier.user("user" + attempt % 50);
				if (limiter.tryAcquire(policy, identifier).allowed()) {
					allowed.computeIfAbsent(identifier, (key) -> new LongAdder()).increment();
				}
			}, 200);
			assertThat(allowed).hasSize(50);
			assertThat(allowed.values()).allSatisfy((sum) -> assertThat(sum.sum()).isEqualTo(30));
		}
	}

	@EachAlgorithm
	void deniedRequestsUseNothingOfASharedQuota(Algorithm algorithm) throws Exception {
		assertThat(useSharedQuota(algorithm, this.limiters)).isEqualTo(100);
	}

	/**
	 * Uses a quota for 100 requests that ten users share, each of whom has one for 20.
	 * Asserts that what was denied has used nothing, and that nothing is lost.
	 * @return how many requests were allowed
	 */
	static long useSharedQuota(Algorithm algorithm, List<? extends RateLimiter> limiters) throws Exception {
		Policy each = policy("each", algorithm, "40/3650d");
		Policy total = policy("total", algorithm, "301/3650d");
		Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
		Threads.run(THREADS, 50, (thread, attempt) -> {
			Identifier user = Identifier.user("user" + attempt % 10);
			RateLimitRequest request = RateLimitRequest.of(Charge.of(each, user).withCost(2),
					Charge.of(total, Identifier.GLOBAL).withCost(3));
			if (limiters.get(thread % limiters.size()).tryAcquire(request).allowed()) {
				allowed.computeIfAbsent(user, (key) -> new LongAdder()).increment();
			}
		});
		RateLimiter limiter = limiters.get(0);
		long sum = allowed.values().stream().mapToLong(LongAdder::sum).sum();
		assertThat(remaining(limiter, total, Identifier.GLOBAL)).containsExactly(301 - 3 * sum);
		allowed
			.forEach((user, count) -> assertThat(remaining(limiter, each, user)).containsExactly(40 - 2 * count.sum()));
		return sum;
	}

	@EachAlgorithm
	void refundedQuotaIsAllowedAgainAndNoMore(Algorithm algorithm) throws Exception {
		Policy policy = policy(algorithm, "100/3650d");
		LongAdder used = new LongAdder();
		fromAllThreads((limiter, attempt) -> {
			if (limiter.tryAcquire(policy, ALICE).allowed()) {
				used.increment();
				if (attempt % 3 == 0) {
					limiter.refund(request(policy, 1));
					used.decrement();
				}
			}
		}, 50);
		assertThat(remaining(this.limiter, policy, ALICE)).containsExactly(100 - used.sum());
	}

	private void fromAllThreads(BiConsumer<RateLimiter, Integer> task, int attempts) throws Exception {
		Threads.run(THREADS, attempts, (thread, attempt) -> task.accept(this.limiters.get(thread % 2), attempt));
	}

}
