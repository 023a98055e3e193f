package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.Replication;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A master, its replica, and a sentinel that makes the replica the master when that
 * fails. Of the two sentinels that are configured one does not exist.
 */
@ExtendWith(OutputCaptureExtension.class)
@SuppressWarnings("try")
class RedisSentinelIT {

	private static final int QUOTA = 1_000_000;

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(QUOTA, Duration.ofDays(3650)));

	/** Much longer than it takes. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final int masterPort = TestRedis.freePort();

	private final int replicaPort = TestRedis.freePort();

	private final int sentinelPort = TestRedis.freePort();

	private final ApplicationContextRunner runner = runner("ratelimit.redis");

	private RedisServer master;

	private RedisServer replica;

	private RedisSentinel sentinel;

	private UnifiedJedis masterClient;

	private ApplicationContextRunner runner(String prefix) {
		return StarterRunners.nonWeb()
			.withPropertyValues(prefix + ".sentinel.master=main",
					prefix + ".sentinel.nodes=127.0.0.1:%d,127.0.0.1:%d".formatted(TestRedis.freePort(),
							this.sentinelPort),
					prefix + ".sentinel.username=guard", prefix + ".sentinel.password=open",
					prefix + ".password=secret", prefix + ".database=2", prefix + ".client-name=app-1",
					"ratelimit.redis.timeout=2s");
	}

	@BeforeEach
	void start() throws IOException {
		this.master = TestRedis.startServer(this.masterPort, "requirepass secret", "masterauth secret");
		this.replica = TestRedis.startServer(this.replicaPort, "requirepass secret", "masterauth secret",
				"replicaof 127.0.0.1 " + this.masterPort);
		this.masterClient = RedisClient.create("redis://:secret@127.0.0.1:" + this.masterPort + "/2");
		Awaitility.await().atMost(PATIENCE).until(() -> this.masterClient.info("replication").contains("state=online"));
		this.sentinel = RedisSentinel.newRedisSentinel()
			.bind("127.0.0.1")
			.port(this.sentinelPort)
			.setting("sentinel monitor main 127.0.0.1 %d 1".formatted(this.masterPort))
			.setting("sentinel auth-pass main secret")
			.setting("sentinel down-after-milliseconds main 500")
			.setting("sentinel failover-timeout main 2000")
			// The user of the documentation, and no other without a password.
			.setting("requirepass other")
			.setting("user guard on >open resetchannels +sentinel|get-master-addr-by-name")
			.build();
	}

	@AfterEach
	void stop() throws IOException {
		this.masterClient.close();
		this.sentinel.stop();
		TestRedis.stop(this.replica);
		if (this.master.isActive()) {
			TestRedis.stop(this.master);
		}
	}

	@Test
	void warningTellsOfUnknownMasterOrWrongLogin(CapturedOutput output) throws IOException {
		startSentinel();
		runner("spring.data.redis").withPropertyValues("spring.data.redis.sentinel.master=other").run((context) -> {
			context.getBean(RedisCheck.class)
				.check(context.getSourceApplicationContext(ConfigurableApplicationContext.class));
			assertThat(output).contains(
					"The sentinel 127.0.0.1:%d does not know the master 'other': is spring.data.redis.sentinel.master right? Tried"
						.formatted(this.sentinelPort));
		});
		this.runner.withPropertyValues("ratelimit.redis.sentinel.password=wrong").run((context) -> {
			context.getBean(RedisCheck.class)
				.check(context.getSourceApplicationContext(ConfigurableApplicationContext.class));
			assertThat(output).contains(
					"The sentinel 127.0.0.1:%d refuses to name the master: are ratelimit.redis.sentinel.nodes, ratelimit.redis.sentinel.username and ratelimit.redis.sentinel.password right? Tried"
						.formatted(this.sentinelPort));
		});
	}

	/** Counts of a sentinel are none. */
	@Test
	void startFailsWhenTheServerIsASentinel() throws IOException {
		startSentinel();
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.url=redis://guard:open@127.0.0.1:" + this.sentinelPort)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("ratelimit.redis.url")
				.hasMessageContaining("set ratelimit.redis.sentinel.master and ratelimit.redis.sentinel.nodes"));
	}

	@Test
	void countsArriveAtMasterUntilApplicationIsClosed() throws IOException {
		startSentinel();
		assertCountsArrive("ratelimit.redis", 1);
		assertCountsArrive("spring.data.redis", 2);
	}

	private void assertCountsArrive(String prefix, int used) {
		runner(prefix).run((context) -> {
			assertThat(used(context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL))).isEqualTo(used);
			assertThat(this.masterClient.dbSize()).isEqualTo(1);
			assertThat(this.masterClient.info("keyspace")).contains("db2:keys=1");
			assertThat(clients()).isNotEmpty();
		});
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(clients()).isEmpty());
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.noneMatch((name) -> name.contains("entinel") && name.contains(":" + this.sentinelPort)));
	}

	/**
	 * It hangs for so long that it is given up, and then goes on as if nothing had been.
	 */
	@Test
	void openConnectionToFormerMasterIsNotUsedAgain() throws IOException {
		startSentinel();
		this.runner.withPropertyValues("ratelimit.redis.connections=1").run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			Replication.await(() -> this.masterClient.info("replication"));
			try (StoppedServer hanging = StoppedServer.stop(this.masterClient)) {
				awaitSwitch();
			}
			assertThat(clients()).hasSize(1);
			String before = scriptCalls(this.masterClient);
			limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			assertThat(scriptCalls(this.masterClient)).isEqualTo(before);
			assertThat(clients()).isEmpty();
		});
	}

	private static String scriptCalls(UnifiedJedis jedis) {
		return jedis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_evalsha:"))
			.map((line) -> line.replaceAll(",.*", ""))
			.findFirst()
			.orElseThrow();
	}

	@Test
	void applicationStartsWithoutSentinelsAndUsesThemLater(CapturedOutput output) throws IOException {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			RateLimiter limiter = context.getBean(RateLimiter.class);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL))
				.withStackTraceContaining("has named the master main");
			startSentinel();
			awaitAnswer(limiter);
			assertThat(used(limiter.tryAcquire(POLICY, Identifier.GLOBAL))).isEqualTo(1);
		});
		assertThat(output).contains("Rate limits are counted in Redis at the master main of the sentinels [127.0.0.1:")
			.doesNotContain("secret", "=open");
	}

	private List<String> clients() {
		return new String((byte[]) this.masterClient.executeCommand(new CommandArguments(Command.CLIENT).add("LIST")))
			.lines()
			.filter((line) -> line.contains(" name=app-1 "))
			.toList();
	}

	private static long used(Decision decision) {
		return QUOTA - decision.statuses().stream().mapToLong(LimitStatus::remaining).sum();
	}

	/** Peeks, which uses nothing. */
	private static void awaitAnswer(RateLimiter limiter) {
		Awaitility.await()
			.atMost(PATIENCE)
			.ignoreException(StoreException.class)
			.until(() -> limiter.peek(RateLimitRequest.of(POLICY, Identifier.GLOBAL)).allowed());
	}

	/** Ends when the sentinel knows the replica. */
	private void startSentinel() throws IOException {
		this.sentinel.start();
		try (Jedis jedis = sentinelClient()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> jedis.sentinelReplicas("main")
					.stream()
					.anyMatch((replica) -> "ok".equals(replica.get("master-link-status"))));
		}
	}

	private Jedis sentinelClient() {
		Jedis jedis = new Jedis("127.0.0.1", this.sentinelPort);
		jedis.auth("other");
		return jedis;
	}

	private void awaitSwitch() {
		try (Jedis jedis = sentinelClient()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> jedis.sentinelGetMasterAddrByName("main")
					.equals(List.of("127.0.0.1", Integer.toString(this.replicaPort))));
		}
	}

}
