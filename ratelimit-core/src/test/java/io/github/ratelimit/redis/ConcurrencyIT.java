package io.github.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes' worth of clients, with many threads, that want more than there is.
 */
class ConcurrencyIT {

	private static final int THREADS = 16;

	private final RedisConnections other = TestRedis.connections(TestRedis.uri()).build();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final List<RateLimiter> limiters = List.of(RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix),
			RedisRateLimiter.of(this.other, this.keyPrefix));

	@AfterEach
	void closeOther() {
		this.other.close();
	}

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	/** Whether denied requests count or not. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void exactlyTheQuotasOfManyIdentifiersAreAllowed(Algorithm algorithm) throws Exception {
		for (boolean countDenied : List.of(false, true)) {
			Policy policy = new Policy("api" + countDenied, algorithm, List.of(new Limit(30, Limit.MAX_WINDOW)),
					countDenied);
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

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestsUseNothingOfASharedQuota(Algorithm algorithm) throws Exception {
		assertThat(SharedQuota.use(algorithm, this.limiters)).isEqualTo(100);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundedQuotaIsAllowedAgainAndNoMore(Algorithm algorithm) throws Exception {
		Identifier alice = Identifier.user("alice");
		Policy policy = new Policy("api", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)));
		RateLimitRequest request = RateLimitRequest.of(policy, alice);
		LongAdder allowed = new LongAdder();
		LongAdder refunds = new LongAdder();
		fromAllThreads((limiter, attempt) -> {
			if (limiter.tryAcquire(request).allowed()) {
				allowed.increment();
				if (attempt % 3 == 0) {
					limiter.refund(request);
					refunds.increment();
				}
			}
		}, 50);
		assertThat(this.limiters.get(0).peek(request).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(100 - allowed.sum() + refunds.sum());
	}

	private void fromAllThreads(BiConsumer<RateLimiter, Integer> task, int attempts) throws Exception {
		Threads.run(THREADS, attempts, (thread, attempt) -> task.accept(this.limiters.get(thread % 2), attempt));
	}

}
