package io.github.ratelimit.spring.chaos;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

import io.github.ratelimit.spring.OwnSentinel;
import io.github.ratelimit.test.StoppedServer;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several instances of an application under steady load, while their master dies and a
 * sentinel makes the replica the master.
 */
class SentinelChaosIT {

	@Test
	void masterIsKilled() {
		String user = UUID.randomUUID().toString();
		AtomicLong lost = new AtomicLong();
		try (OwnSentinel redis = new OwnSentinel(); Fleet fleet = new Fleet(3, redis.properties("ratelimit.redis"))) {
			Trial trial = new Trial(fleet, List.of(user), List.of("somebody else"));
			Outcome outcome = trial.survive("master of a sentinel killed", (traffic) -> {
				long start = System.nanoTime() - Trial.LAG.toNanos();
				kill(redis);
				lost.set(traffic.countedSince(user, start));
			});
			outcome.of(user).assertLostAtMost(lost.get());
			trial.assertQuota(outcome, user, lost.get());
			assertThat(outcome.reporting()).as("instances that reported the outage").hasSize(3);
		}
	}

	private static void kill(OwnSentinel redis) {
		try (UnifiedJedis jedis = redis.master()) {
			ProcessHandle process = ProcessHandle.of(StoppedServer.processId(jedis.info("server"))).orElseThrow();
			assertThat(process.destroyForcibly()).isTrue();
			process.onExit().join();
		}
	}

}
