package io.github.ratelimit.spring.chaos;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several instances of an application under steady load, while something happens to their
 * Redis. Whatever it is: no client gets an error or waits for long, no thread hangs, what
 * Redis has counted is what clients were told, metrics say that limits are not enforced,
 * and all instances limit again by themselves afterwards.
 */
class ChaosIT {

	private static final int port = TestRedis.freePort();

	private static RedisServer server;

	private static FaultyProxy proxy;

	private static Fleet fleet;

	private final Trial trial = new Trial(fleet, List.of(UUID.randomUUID().toString()), List.of("somebody else"));

	@BeforeAll
	static void start() {
		server = TestRedis.startServer(port);
		proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
		fleet = new Fleet(3, "ratelimit.redis.url=" + proxy.uri(),
				"ratelimit.redis.timeout=" + Trial.BUDGET.toMillis() + "ms");
	}

	@AfterAll
	static void stop() {
		fleet.close();
		proxy.close();
		TestRedis.stop(server);
	}

	@Test
	void redisIsKilledAndStartedEmpty() {
		Outcome outcome = survives("killed and started empty", (trial, traffic, jedis) -> {
			kill(jedis);
			trial.awaitOutage(traffic);
			TestRedis.stop(server);
			server = TestRedis.startServer(port);
		});
		assertThat(outcome.used()).isLessThan(outcome.counted());
	}

	static Stream<Arguments> faults() {
		return Stream.of(fault("stopped by SIGSTOP", (trial, traffic, jedis) -> {
			StoppedServer stopped = StoppedServer.stop(jedis.info("server"));
			try (stopped) {
				trial.awaitOutage(traffic);
			}
		}), fault("CLIENT PAUSE for 3 s", (trial, traffic, jedis) -> {
			jedis.clientPause(3000);
			trial.awaitOutage(traffic);
		}), fault("SCRIPT FLUSH, 20 times", (trial, traffic, jedis) -> {
			for (int i = 0; i < 20; i++) {
				jedis.scriptFlush();
				trial.awaitCounted(traffic, 20);
			}
		}), fault("maxmemory reached", (trial, traffic, jedis) -> {
			jedis.configSet("maxmemory", "1");
			trial.awaitOutage(traffic);
			jedis.configSet("maxmemory", "0");
		}), fault("5 replies cut in their middle", (trial, traffic, jedis) -> {
			proxy.cut(5);
			await().atMost(Trial.SOON).until(() -> proxy.toCut() == 0);
		}), fault("5 replies lost", (trial, traffic, jedis) -> {
			proxy.lose(5);
			await().atMost(Trial.SOON).until(() -> proxy.toLose() == 0);
		}), fault("replies after twice the budget", (trial, traffic, jedis) -> {
			// Redis is never silent for a second, so that this is no outage.
			proxy.delay(Trial.BUDGET.multipliedBy(2));
			trial.awaitUncounted(traffic);
			proxy.delay(Duration.ZERO);
		}), fault("connections broken, 5 times", (trial, traffic, jedis) -> {
			for (int i = 0; i < 5; i++) {
				proxy.breakConnections();
				trial.awaitCounted(traffic, 20);
			}
		}));
	}

	private static Arguments fault(String name, Fault fault) {
		return Arguments.argumentSet(name, name, fault);
	}

	@ParameterizedTest
	@MethodSource("faults")
	void whatRedisCountsIsWhatClientsWereTold(String name, Fault fault) {
		survives(name, fault).assertCounted();
	}

	private Outcome survives(String name, Fault fault) {
		return this.trial.survive(name, (traffic) -> {
			try (Jedis jedis = new Jedis("127.0.0.1", port)) {
				fault.happen(this.trial, traffic, jedis);
			}
		});
	}

	private static void kill(Jedis jedis) {
		assertThat(ProcessHandle.of(StoppedServer.processId(jedis.info("server"))).orElseThrow().destroyForcibly())
			.isTrue();
	}

	private interface Fault {

		void happen(Trial trial, Traffic traffic, Jedis jedis);

	}

}
