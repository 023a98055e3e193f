package io.github.ratelimit.spring.web;

import java.time.Duration;

import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.decide.Decider;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A policy with a lease, from its property to Redis.
 */
@SuppressWarnings("try")
class LeaseIT {

	private static final int QUOTA = 100_000;

	private static final Policy POLICY = Policy.of("api", new FirstRequestWindow(), Limit.parse(QUOTA + "/d"))
		.withLease(Duration.ofSeconds(10));

	private static final Identifier CLIENT = Identifier.ip("127.0.0.1");

	private final OwnRedis redis = OwnRedis.started();

	private final UnifiedJedis jedis = RedisClient.create("127.0.0.1", this.redis.port());

	@AfterEach
	void stop() {
		this.jedis.close();
		this.redis.close();
	}

	@Test
	void whatIsTakenInAdvanceIsGivenBackAtShutdown() {
		int sent = 0;
		try (TestApplication application = start()) {
			do {
				assertThat(application.get("/api").statusCode()).isEqualTo(200);
				sent++;
			}
			while (counted() == sent);
			assertThat(counted()).isGreaterThan(sent);
			application.get("/api");
			sent++;
			assertThat(application.bean(MeterRegistry.class)
				.get("ratelimit.decisions")
				.tags("policy", "api", "source", "lease")
				.timer()
				.count()).isPositive();
		}
		assertThat(counted()).isEqualTo(sent);
	}

	@Test
	void blocksAndResetsOfTheEndpointAreNoticedAtOnce() {
		try (TestApplication application = start()) {
			RateLimitsEndpoint endpoint = application.bean(RateLimitsEndpoint.class);
			useUntilLeased(application);
			endpoint.write("blocks", CLIENT.toString(), null, "1h", "");
			assertThat(application.get("/api").body()).contains("abnormal-usage-detected");
			endpoint.delete("blocks", CLIENT.toString(), null);
			useUntilLeased(application);
			endpoint.delete("counts", CLIENT.toString(), "api");
			assertThat(peek(application)).isEqualTo(Source.STORE);
		}
	}

	private static void useUntilLeased(TestApplication application) {
		while (peek(application) != Source.LEASE) {
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
	}

	private static Source peek(TestApplication application) {
		return application.bean(Decider.class).outage().peek(RateLimitRequest.of(POLICY, CLIENT)).source();
	}

	/** What Redis has counted, apart from the application. */
	private int counted() {
		return (int) (QUOTA - RedisRateLimiter.of(this.jedis)
			.peek(RateLimitRequest.of(POLICY, CLIENT))
			.statuses()
			.get(0)
			.remaining());
	}

	private TestApplication start() {
		return TestApplication.startWithOwnLimiter(TestApplication.Served.class, """
				ratelimit:
				  redis: { url: 'redis://127.0.0.1:%d', timeout: 20s }
				  policies.api: { paths: /api, limits: %d/d, algorithm: first-request-window, lease: 10s }
				management.endpoints.web.exposure.include: ratelimits
				""".formatted(this.redis.port(), QUOTA));
	}

}
