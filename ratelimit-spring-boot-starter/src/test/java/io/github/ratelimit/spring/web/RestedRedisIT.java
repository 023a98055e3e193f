package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that come so seldom that a firewall or a load balancer has forgotten all
 * connections to Redis before each, and says nothing to either side.
 */
@Timeout(120)
class RestedRedisIT {

	/** In milliseconds. Nightly builds have less. */
	private static final int BUDGET = Integer.getInteger("ratelimit.rested.budget", 2000);

	/** Longer than a connection is trusted. */
	private static final long REST = TimeUnit.MILLISECONDS.toNanos(1100);

	private static final int QUOTA = 1000;

	@ParameterizedTest
	@ValueSource(strings = { "own", "of the application" })
	void redisDecidesEveryRequestAfterConnectionsWereForgotten(String connections) {
		try (FaultyProxy firewall = new FaultyProxy(TestRedis.uri());
				TestApplication application = TestApplication.startWithOwnLimiter(Application.class,
						"test.redis.url=" + firewall.uri(),
						connections.equals("own") ? "ratelimit.redis.url=" + firewall.uri()
								: "ratelimit.redis.client=mine",
						"ratelimit.redis.timeout=" + BUDGET + "ms", "ratelimit.key-prefix=" + TestRedis.newKeyPrefix(),
						"ratelimit.policies.api.paths=/api", "ratelimit.policies.api.limits=" + QUOTA + "/365d",
						"ratelimit.policies.api.algorithm=fixed-window",
						"ratelimit.policies.api.on-store-failure=deny")) {
			// Whether Redis decides the very first ones is not asked here.
			TestCluster.await("Redis decides", () -> application.get("/api").statusCode() == 200);
			long before = remaining(application.get("/api"));
			for (int i = 1; i <= 3; i++) {
				firewall.forgetConnections();
				long start = System.nanoTime();
				TestCluster.await("The connections have rested", () -> System.nanoTime() - start > REST);
				assertThat(remaining(application.get("/api"))).isEqualTo(before - i);
			}
		}
	}

	private static long remaining(HttpResponse<String> response) {
		assertThat(response.statusCode()).isEqualTo(200);
		return response.headers().firstValueAsLong("X-Rate-Limit-Remaining").orElseThrow();
	}

	static class Application extends TestApplication.Served {

		/** Used if it is named. */
		@Bean
		@Lazy
		static UnifiedJedis mine(@Value("${test.redis.url}") String url) {
			return RedisClient.create(url);
		}

	}

}
