package io.github.ratelimit.spring.chaos;

import java.net.URI;
import java.time.Duration;
import java.util.UUID;

import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several instances of an application under steady load, while something happens to their
 * Redis. Whatever it is: no client gets an error or waits for long, no thread hangs, what
 * Redis has counted is what clients were told, metrics say that limits are not enforced,
 * and all instances limit again by themselves afterwards.
 * <p>
 * The system property {@code ratelimit.chaos.requests} says how many requests are counted
 * before and after each fault.
 */
class ChaosIT {

	private static final Logger logger = LoggerFactory.getLogger(ChaosIT.class);

	private static final long REQUESTS = Long.getLong("ratelimit.chaos.requests", 300);

	private static final Duration BUDGET = Duration.ofMillis(200);

	/** Much longer than anything takes, because machines of tests are busy. */
	private static final Duration SOON = Duration.ofSeconds(20);

	private static final int port = TestRedis.freePort();

	private static RedisServer server;

	private static FaultyProxy proxy;

	private static Fleet fleet;

	private final String user = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		server = TestRedis.startServer(port);
		proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
		fleet = new Fleet(3, "ratelimit.redis.url=" + proxy.uri(),
				"ratelimit.redis.timeout=" + BUDGET.toMillis() + "ms");
	}

	@AfterAll
	static void stop() {
		fleet.close();
		proxy.close();
		TestRedis.stop(server);
	}

	@Test
	void redisIsKilledAndStartedEmpty() {
		Outcome outcome = survives("killed and started empty", (traffic, jedis) -> {
			kill(jedis);
			awaitOutage(traffic);
			TestRedis.stop(server);
			server = TestRedis.startServer(port);
		});
		assertThat(outcome.used()).isLessThan(outcome.counted());
	}

	@Test
	void redisIsStopped() {
		assertCounted(survives("stopped by SIGSTOP", (traffic, jedis) -> {
			StoppedServer stopped = StoppedServer.stop(jedis.info("server"));
			try (stopped) {
				awaitOutage(traffic);
			}
		}));
	}

	@Test
	void redisPausesItsClients() {
		assertCounted(survives("CLIENT PAUSE for 3 s", (traffic, jedis) -> {
			jedis.clientPause(3000);
			awaitOutage(traffic);
		}));
	}

	@Test
	void scriptsAreFlushed() {
		Outcome outcome = survives("SCRIPT FLUSH, 20 times", (traffic, jedis) -> {
			for (int i = 0; i < 20; i++) {
				jedis.scriptFlush();
				awaitCounted(traffic, 20);
			}
		});
		assertThat(outcome.uncounted()).isZero();
		assertThat(outcome.used()).isEqualTo(outcome.counted());
	}

	@Test
	void redisIsFull() {
		assertCounted(survives("maxmemory reached", (traffic, jedis) -> {
			jedis.configSet("maxmemory", "1");
			awaitOutage(traffic);
			jedis.configSet("maxmemory", "0");
		}));
	}

	@Test
	void repliesAreCut() {
		assertCounted(survives("5 replies cut in their middle", (traffic, jedis) -> {
			proxy.cut(5);
			await().atMost(SOON).until(() -> proxy.toCut() == 0);
		}));
	}

	@Test
	void repliesAreLost() {
		assertCounted(survives("5 replies lost", (traffic, jedis) -> {
			proxy.lose(5);
			await().atMost(SOON).until(() -> proxy.toLose() == 0);
		}));
	}

	@Test
	void repliesAreSlow() {
		assertCounted(survives("replies after twice the budget", (traffic, jedis) -> {
			proxy.delay(BUDGET.multipliedBy(2));
			awaitOutage(traffic);
			proxy.delay(Duration.ZERO);
		}));
	}

	@Test
	void connectionsAreBroken() {
		assertCounted(survives("connections broken, 5 times", (traffic, jedis) -> {
			for (int i = 0; i < 5; i++) {
				proxy.breakConnections();
				awaitCounted(traffic, 20);
			}
		}));
	}

	private Outcome survives(String name, Fault fault) {
		Duration recovery;
		Traffic traffic = new Traffic(fleet.addresses(), this.user);
		try (traffic; Jedis jedis = new Jedis("127.0.0.1", port)) {
			awaitCounted(traffic, REQUESTS);
			fault.happen(traffic, jedis);
			long over = System.nanoTime();
			await().atMost(SOON).until(fleet::limits);
			recovery = Duration.ofNanos(System.nanoTime() - over);
			awaitCounted(traffic, REQUESTS);
		}
		Outcome outcome = new Outcome(traffic.counted(), traffic.uncounted(), fleet.used(this.user), traffic.slowest(),
				recovery);
		logger.info("{}: {}", name, outcome);
		assertThat(traffic.statuses()).containsExactly(200);
		assertThat(outcome.slowest()).isLessThan(SOON);
		assertThat(Thread.getAllStackTraces().values()).as("threads that wait for Redis")
			.noneSatisfy((stack) -> assertThat(stack)
				.anyMatch((frame) -> frame.getClassName().startsWith("io.github.ratelimit.redis.")));
		return outcome;
	}

	/** What clients were told is counted, and once; what they were not, at most once. */
	private static void assertCounted(Outcome outcome) {
		assertThat(outcome.used()).isBetween(outcome.counted(), outcome.counted() + outcome.uncounted());
	}

	private static void awaitCounted(Traffic traffic, long more) {
		long before = traffic.counted();
		await().atMost(SOON.plusMillis(10 * more)).until(() -> traffic.counted() >= before + more);
	}

	/** Until all instances report that the store fails, and many requests were served. */
	private static void awaitOutage(Traffic traffic) {
		await().atMost(SOON).until(fleet::reportsOutage);
		long before = traffic.uncounted();
		await().atMost(SOON).until(() -> traffic.uncounted() >= before + 100);
	}

	private static void kill(Jedis jedis) {
		assertThat(ProcessHandle.of(StoppedServer.processId(jedis.info("server"))).orElseThrow().destroyForcibly())
			.isTrue();
	}

	private interface Fault {

		void happen(Traffic traffic, Jedis jedis);

	}

}
