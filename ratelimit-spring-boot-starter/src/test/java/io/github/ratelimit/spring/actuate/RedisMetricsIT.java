package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A queue of one call, while another is under way.
 */
@Timeout(120)
class RedisMetricsIT {

	private static final RateLimitRequest REQUEST = RateLimitRequest
		.of(Policy.of("api", new SlidingLog(), Limit.parse("1/d")), Identifier.GLOBAL);

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	@Test
	void decisionsThatAreNotAcceptedAreCounted() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		try (AnsweringServer slow = new AnsweringServer("EVALSHA", "-ERR busy\r\n", () -> {
			asked.countDown();
			pass(answer);
		});
				RedisConnections redis = RedisConnections.server(new HostAndPort("127.0.0.1", slow.uri().getPort()))
					.connections(1)
					.maxWaiting(1)
					.timeBudget(Duration.ofSeconds(60))
					.listener(new RedisMetrics(this.registry))
					.build()) {
			RateLimiter limiter = RedisRateLimiter.of(redis, "queue");
			Thread first = start(limiter);
			pass(asked);
			Thread second = start(limiter);
			await().until(() -> second.getState() == Thread.State.TIMED_WAITING);
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(REQUEST))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.OVERLOAD));
			}
			assertThat(this.registry.get("ratelimit.redis.queue-full").counter().count()).isEqualTo(3);
			answer.countDown();
			first.join();
			second.join();
		}
	}

	private static Thread start(RateLimiter limiter) {
		Thread thread = new Thread(
				() -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(REQUEST)));
		thread.start();
		return thread;
	}

	private static void pass(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
