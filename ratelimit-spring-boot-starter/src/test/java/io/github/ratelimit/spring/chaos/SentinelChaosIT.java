package io.github.ratelimit.spring.chaos;

import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several instances of an application under steady load, while their master dies and a
 * sentinel makes the replica the master.
 */
class SentinelChaosIT {

	private final int masterPort = TestRedis.freePort();

	private final int sentinelPort = TestRedis.freePort();

	private RedisServer master;

	private RedisServer replica;

	private RedisSentinel sentinel;

	private Fleet fleet;

	@BeforeEach
	void start() throws IOException {
		this.master = TestRedis.startServer(this.masterPort);
		this.replica = TestRedis.startServer(TestRedis.freePort(), "replicaof 127.0.0.1 " + this.masterPort);
		try (Jedis jedis = new Jedis("127.0.0.1", this.masterPort)) {
			await().atMost(Trial.SOON).until(() -> jedis.info("replication").contains("state=online"));
		}
		this.sentinel = RedisSentinel.newRedisSentinel()
			.bind("127.0.0.1")
			.port(this.sentinelPort)
			.setting("sentinel monitor main 127.0.0.1 %d 1".formatted(this.masterPort))
			.setting("sentinel down-after-milliseconds main 500")
			.setting("sentinel failover-timeout main 2000")
			.build();
		this.sentinel.start();
		try (Jedis jedis = new Jedis("127.0.0.1", this.sentinelPort)) {
			await().atMost(Trial.SOON)
				.until(() -> jedis.sentinelReplicas("main")
					.stream()
					.anyMatch((replica) -> "ok".equals(replica.get("master-link-status"))));
		}
		this.fleet = new Fleet(3, "ratelimit.redis.sentinel.master=main",
				"ratelimit.redis.sentinel.nodes=127.0.0.1:" + this.sentinelPort,
				"ratelimit.redis.timeout=" + Trial.BUDGET.toMillis() + "ms");
	}

	@AfterEach
	void stop() throws IOException {
		this.fleet.close();
		this.sentinel.stop();
		TestRedis.stop(this.replica);
		TestRedis.stop(this.master);
	}

	@Test
	void masterIsKilled() {
		String user = UUID.randomUUID().toString();
		Trial trial = new Trial(this.fleet, List.of(user), List.of("somebody else"));
		AtomicLong lost = new AtomicLong();
		Outcome outcome = trial.survive("master of a sentinel killed", (traffic) -> {
			long start = System.nanoTime() - Trial.LAG.toNanos();
			kill();
			lost.set(traffic.countedSince(user, start));
		});
		outcome.of(user).assertLostAtMost(lost.get());
		trial.assertQuota(outcome, user, lost.get());
		assertThat(outcome.reporting()).as("instances that reported the outage").hasSize(3);
	}

	private void kill() {
		try (Jedis jedis = new Jedis("127.0.0.1", this.masterPort)) {
			ProcessHandle process = ProcessHandle.of(StoppedServer.processId(jedis.info("server"))).orElseThrow();
			assertThat(process.destroyForcibly()).isTrue();
			process.onExit().join();
		}
	}

}
