package io.github.ratelimit.redis;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that has forgotten the scripts, because it was restarted or somebody flushed
 * them.
 */
class ScriptLoadingIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int THREADS = 4;

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix());

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void forgottenScriptIsLoadedAgainByWhateverComesNext(Algorithm algorithm) {
		Policy policy = new Policy("api", algorithm, List.of(new Limit(10, Limit.MAX_WINDOW)));
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		for (long remaining = 9; remaining >= 4; remaining--) {
			TestRedis.client().scriptFlush();
			assertThat(this.limiter.tryAcquire(request).statuses()).extracting(LimitStatus::remaining)
				.containsExactly(remaining);
			TestRedis.client().scriptFlush();
			assertThat(this.limiter.peek(request).statuses()).extracting(LimitStatus::remaining)
				.containsExactly(remaining);
		}
		TestRedis.client().scriptFlush();
		this.limiter.refund(request);
		assertThat(this.limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsExactly(5L);
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void scriptsForgottenUnderLoadLoseAndDoubleNothing(Algorithm algorithm) throws Exception {
		Policy policy = new Policy("api", algorithm, List.of(new Limit(1000, Limit.MAX_WINDOW)));
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger flushes = new AtomicInteger();
		ExecutorService executor = Executors.newFixedThreadPool(THREADS + 1);
		try {
			Future<?> flusher = executor.submit(() -> {
				while (!done.get()) {
					TestRedis.client().scriptFlush();
					flushes.incrementAndGet();
				}
			});
			assertThat(acquireFromAllThreads(executor, policy, 300)).isEqualTo(1000);
			done.set(true);
			flusher.get();
		}
		finally {
			done.set(true);
			executor.shutdownNow();
		}
		assertThat(flushes).hasPositiveValue();
		assertThat(this.limiter.peek(RateLimitRequest.of(policy, ALICE)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(0L);
	}

	private long acquireFromAllThreads(ExecutorService executor, Policy policy, int attempts)
			throws InterruptedException, ExecutionException {
		List<Future<Long>> results = executor.invokeAll(IntStream.range(0, THREADS)
			.mapToObj((thread) -> (Callable<Long>) () -> IntStream.range(0, attempts)
				.filter((attempt) -> this.limiter.tryAcquire(policy, ALICE).allowed())
				.count())
			.toList());
		long allowed = 0;
		for (Future<Long> result : results) {
			allowed += result.get();
		}
		return allowed;
	}

}
