package io.github.ratelimit.waiting;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.ManualTime;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers of two processes who wait for one Redis. Its clock is that of the test.
 */
class WaitingRateLimiterIT {

	private static final Policy POLICY = Policy.of("api", new FirstRequestWindow(), Limit.parse("3/s"));

	private static final int THREADS = 8;

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final String prefix = TestRedis.newKeyPrefix();

	private final List<WaitingRateLimiter> processes = Stream.generate(this::process).limit(2).toList();

	private WaitingRateLimiter process() {
		RateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), this.prefix).withClock(this.clock);
		return new WaitingRateLimiter(redis, new ManualTime(this.clock));
	}

	@Test
	void allAreAdmittedWithinTheLimit() throws Exception {
		AtomicInteger admitted = new AtomicInteger();
		Threads.run(THREADS, 6, (thread, attempt) -> {
			WaitingRateLimiter process = this.processes.get(thread % 2);
			admitted.addAndGet(process.acquire(POLICY, Identifier.GLOBAL, Duration.ofDays(1)).allowed() ? 1 : 0);
		});
		assertThat(admitted).hasValue(6 * THREADS);
		assertThat(this.clock.instant()).isAfterOrEqualTo("2026-01-01T00:00:15Z");
	}

}
