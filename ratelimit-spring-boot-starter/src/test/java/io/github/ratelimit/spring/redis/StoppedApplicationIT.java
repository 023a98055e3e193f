package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An application that is stopped and started again without being closed, as for a
 * checkpoint of its process.
 */
@Timeout(120)
class StoppedApplicationIT {

	private static final int LEASED = 100;

	private final OwnRedis redis = OwnRedis.started();

	private final UnifiedJedis jedis = RedisClient.create("127.0.0.1", this.redis.port());

	@AfterEach
	void stop() {
		this.jedis.close();
		this.redis.close();
	}

	/** Twice, because it is started again between. */
	@Test
	void nothingRemainsWhileApplicationIsStopped() {
		// Applications of other tests may have been left open.
		Set<Thread> others = threads();
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + this.redis.port(),
					"ratelimit.redis.client-name=app-1", "ratelimit.redis.timeout=10s",
					"ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=100000/d",
					"ratelimit.policies.api.algorithm=fixed-window", "ratelimit.policies.api.lease=1m")
			.run((context) -> {
				ConfigurableApplicationContext application = context.getSourceApplicationContext();
				for (int i = 1; i <= 2; i++) {
					for (int j = 0; j < LEASED; j++) {
						assertThat(context.getBean(PolicyLimiter.class).tryAcquire("api").decision().source())
							.isIn(Source.STORE, Source.LEASE);
					}
					assertThat(clients()).isNotEmpty();
					application.stop();
					TestCluster.await("The server has seen the end", () -> clients().isEmpty());
					await().atMost(Duration.ofMinutes(1))
						.untilAsserted(() -> assertThat(threads()).as("new threads").isSubsetOf(others));
					application.start();
				}
			});
	}

	/** Its key in Redis expires because nothing renews it. */
	@Test
	void callThatRunsIsRenewedOnlyWhileApplicationIsStarted() {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + this.redis.port(),
					"ratelimit.redis.client-name=app-1", "ratelimit.redis.timeout=10s",
					"ratelimit.defaults.identifiers=global", "ratelimit.policies.api.concurrent=5",
					"ratelimit.policies.api.concurrent-lease=1s")
			.run((context) -> {
				ConfigurableApplicationContext application = context.getSourceApplicationContext();
				context.getBean(PolicyLimiter.class).tryAcquire("api");
				application.stop();
				TestCluster.await("The call does not count", () -> this.jedis.dbSize() == 0);
				TestCluster.await("The server has seen the end", () -> clients().isEmpty());
				application.start();
				TestCluster.await("The call counts again", () -> this.jedis.dbSize() == 1);
			});
	}

	private static Set<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("ratelimit-"))
			.collect(Collectors.toSet());
	}

	private List<String> clients() {
		return new String((byte[]) this.jedis.executeCommand(new CommandArguments(Command.CLIENT).add("LIST"))).lines()
			.filter((line) -> line.contains(" name=app-1 "))
			.toList();
	}

}
