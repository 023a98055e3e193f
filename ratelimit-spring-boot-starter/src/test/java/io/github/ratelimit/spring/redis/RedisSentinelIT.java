package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import io.github.ratelimit.spring.policy.PolicyUse;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.Replication;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.SentineledConnectionProvider;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

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
					"ratelimit.redis.timeout=2s", "ratelimit.defaults.identifiers=global",
					"ratelimit.policies.open.limits=100/3650d", "ratelimit.policies.closed.limits=100/3650d",
					"ratelimit.policies.closed.on-store-failure=deny");
	}

	/** Says when the master is another. */
	private final Logger logger = (Logger) LoggerFactory.getLogger(SentineledConnectionProvider.class);

	private final Level level = this.logger.getLevel();

	@BeforeEach
	void start() throws IOException {
		this.logger.setLevel(Level.INFO);
		this.master = TestRedis.startServer(this.masterPort, "requirepass secret", "masterauth secret");
		this.replica = TestRedis.startServer(this.replicaPort, "requirepass secret", "masterauth secret",
				"replicaof 127.0.0.1 " + this.masterPort);
		this.masterClient = RedisClient.create("redis://:secret@127.0.0.1:" + this.masterPort + "/2");
		Awaitility.await().atMost(PATIENCE).until(() -> this.masterClient.info("replication").contains("state=online"));
		this.sentinel = sentinelOf(this.masterPort);
	}

	private RedisSentinel sentinelOf(int master) throws IOException {
		return RedisSentinel.newRedisSentinel()
			.bind("127.0.0.1")
			.port(this.sentinelPort)
			.setting("sentinel monitor main 127.0.0.1 %d 1".formatted(master))
			.setting("sentinel auth-pass main secret")
			.setting("sentinel down-after-milliseconds main 500")
			.setting("sentinel failover-timeout main 2000")
			// The user of the documentation, and no other without a password.
			.setting("requirepass other")
			.setting("user guard on >open resetchannels &+switch-master +subscribe +sentinel|get-master-addr-by-name")
			.build();
	}

	@AfterEach
	void stop() throws IOException {
		this.logger.setLevel(this.level);
		this.masterClient.close();
		this.sentinel.stop();
		TestRedis.stop(this.replica);
		if (this.master.isActive()) {
			TestRedis.stop(this.master);
		}
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
			assertThat(clients()).hasSize(1);
		});
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(clients()).isEmpty());
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.noneMatch((name) -> name.contains("entinel") && name.contains(":" + this.sentinelPort)));
	}

	/** One process is killed without a goodbye; what it has not passed on is lost. */
	@Test
	void otherMasterIsUsedWhenMasterIsKilled() throws IOException {
		startSentinel();
		this.runner.run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			for (int i = 0; i < 3; i++) {
				limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			}
			Replication.await(() -> this.masterClient.info("replication"));
			kill(this.masterClient);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL));
			assertThat(decide(context, "open").statuses()).isEmpty();
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> decide(context, "closed"));
			awaitAnswer(limiter);
			assertThat(used(limiter.tryAcquire(POLICY, Identifier.GLOBAL))).isEqualTo(4);
			assertThat(decide(context, "closed").statuses()).hasSize(1);
		});
	}

	/** The sentinel may lose the reply as well, which is then asked again. */
	@Test
	void requestWhoseReplyIsLostIsServedOnce() throws IOException {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.masterPort))) {
			this.sentinel = sentinelOf(proxy.uri().getPort());
			startSentinel();
			this.runner.run((context) -> {
				RateLimiter limiter = context.getBean(RateLimiter.class);
				awaitAnswer(limiter);
				// Otherwise the lost reply would be that the script is not known.
				limiter.tryAcquire(POLICY, Identifier.GLOBAL);
				long before = used(limiter.peek(RateLimitRequest.of(POLICY, Identifier.GLOBAL)));
				AtomicInteger sent = new AtomicInteger();
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> {
					while (sent.incrementAndGet() <= 100) {
						proxy.lose(1);
						limiter.tryAcquire(POLICY, Identifier.GLOBAL);
					}
				});
				proxy.lose(0);
				awaitAnswer(limiter);
				assertThat(used(limiter.peek(RateLimitRequest.of(POLICY, Identifier.GLOBAL))))
					.isEqualTo(before + sent.get());
			});
		}
	}

	@Test
	void otherMasterIsUsedAfterFailover(CapturedOutput output) throws IOException {
		startSentinel();
		this.runner.run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			Replication.await(() -> this.masterClient.info("replication"));
			try (Jedis jedis = sentinelClient()) {
				jedis.sentinelFailover("main");
			}
			awaitSwitch(output);
			awaitAnswer(limiter);
			assertThat(used(limiter.tryAcquire(POLICY, Identifier.GLOBAL))).isEqualTo(2);
		});
	}

	/**
	 * It hangs for so long that it is given up, and then goes on as if nothing had been.
	 */
	@Test
	void openConnectionToFormerMasterIsNotUsedAgain(CapturedOutput output) throws IOException {
		startSentinel();
		this.runner.run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			Replication.await(() -> this.masterClient.info("replication"));
			try (StoppedServer hanging = StoppedServer.stop(this.masterClient)) {
				awaitSwitch(output);
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
	void decisionEndsWhenMasterAnswersByteByByte() throws IOException {
		startSentinel();
		try (TricklingServer trickling = new TricklingServer(false); Jedis jedis = sentinelClient()) {
			jedis.sentinelRemove("main");
			jedis.sentinelMonitor("main", "127.0.0.1", trickling.port(), 1);
			this.runner.run((context) -> {
				long start = System.nanoTime();
				// It was sent, and the master has answered something.
				assertThatExceptionOfType(StoreBusyException.class).isThrownBy(() -> decide(context, "closed"))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.TIMEOUT));
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
			});
		}
	}

	@Test
	void applicationStartsWithoutSentinelsAndUsesThemLater(CapturedOutput output) throws IOException {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			RateLimiter limiter = context.getBean(RateLimiter.class);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL))
				.withStackTraceContaining("has named the master main");
			assertThat(decide(context, "open").statuses()).isEmpty();
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

	private static Decision decide(ApplicationContext context, String policy) {
		return context.getBean(PolicyEnforcer.class)
			.enforce(List
				.of(new PolicyUse(context.getBean(ConfiguredPolicies.class).find(policy).orElseThrow(), 1, Map.of())));
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

	private void awaitSwitch(CapturedOutput output) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> output.getOut()
				.contains("Created connection pool to master at 127.0.0.1:" + this.replicaPort));
	}

	private static void kill(UnifiedJedis client) {
		long pid = client.info("server")
			.lines()
			.filter((line) -> line.startsWith("process_id:"))
			.mapToLong((line) -> Long.parseLong(line.substring("process_id:".length())))
			.findFirst()
			.orElseThrow();
		ProcessHandle process = ProcessHandle.of(pid).orElseThrow();
		assertThat(process.destroyForcibly()).isTrue();
		process.onExit().join();
	}

}
