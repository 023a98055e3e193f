package io.github.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
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

	private final Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();

	@AfterEach
	void closeOther() {
		this.other.close();
	}

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void exactlyTheQuotasOfManyIdentifiersAreAllowed(Algorithm algorithm) throws Exception {
		Policy policy = new Policy("api", algorithm, List.of(new Limit(30, Limit.MAX_WINDOW)));
		fromAllThreads((limiter, attempt) -> {
			Identifier identifier = Identifier.user("user" + attempt % 50);
			acquire(limiter, RateLimitRequest.of(policy, identifier), identifier);
		}, 200);
		assertThat(this.allowed).hasSize(50);
		assertThat(this.allowed.values()).allSatisfy((sum) -> assertThat(sum.sum()).isEqualTo(30));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestsUseNothingOfASharedQuota(Algorithm algorithm) throws Exception {
		assertThat(SharedQuota.use(algorithm, this.limiters)).isEqualTo(100);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestsThatCountLetNobodyElseIn(Algorithm algorithm) throws Exception {
		Identifier alice = Identifier.user("alice");
		Policy policy = new Policy("api", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)), true);
		fromAllThreads((limiter, attempt) -> acquire(limiter, RateLimitRequest.of(policy, alice), alice), 20);
		assertThat(this.allowed.get(alice).sum()).isEqualTo(100);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundedQuotaIsAllowedAgainAndNoMore(Algorithm algorithm) throws Exception {
		Identifier alice = Identifier.user("alice");
		Policy policy = new Policy("api", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)));
		RateLimitRequest request = RateLimitRequest.of(policy, alice);
		LongAdder refunds = new LongAdder();
		fromAllThreads((limiter, attempt) -> {
			if (limiter.tryAcquire(request).allowed()) {
				this.allowed.computeIfAbsent(alice, (key) -> new LongAdder()).increment();
				if (attempt % 3 == 0) {
					limiter.refund(request);
					refunds.increment();
				}
			}
		}, 50);
		assertThat(this.limiters.get(0).peek(request).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(100 - this.allowed.get(alice).sum() + refunds.sum());
	}

	static Stream<Algorithm> buckets() {
		return algorithms().filter((algorithm) -> algorithm.script().equals("bucket"));
	}

	/** They drain meanwhile. */
	@ParameterizedTest
	@MethodSource("buckets")
	void bucketsAllowTheirSizeAndWhatDrains(Algorithm algorithm) throws Exception {
		Identifier alice = Identifier.user("alice");
		Policy policy = Policy.of("api", algorithm, Limit.parse("100/s"));
		long start = serverMillis();
		fromAllThreads((limiter, attempt) -> acquire(limiter, RateLimitRequest.of(policy, alice), alice), 200);
		long millis = serverMillis() - start;
		assertThat(this.allowed.get(alice).sum()).isBetween(100L, Math.min(3200, 100 + millis / 10 + 1));
	}

	private static long serverMillis() {
		Object millis = TestRedis.client().eval("local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000");
		return (Long) millis;
	}

	private void acquire(RateLimiter limiter, RateLimitRequest request, Identifier identifier) {
		if (limiter.tryAcquire(request).allowed()) {
			this.allowed.computeIfAbsent(identifier, (key) -> new LongAdder()).increment();
		}
	}

	private void fromAllThreads(Task task, int attempts) throws Exception {
		Threads.run(THREADS, attempts, (thread, attempt) -> task.run(this.limiters.get(thread % 2), attempt));
	}

	@FunctionalInterface
	private interface Task {

		void run(RateLimiter limiter, int attempt);

	}

}
