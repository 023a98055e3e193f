package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.OwnSentinel;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.Replication;
import io.github.ratelimit.test.StoppedServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisCredentialsProvider;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

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

	private static OwnSentinel redis;

	private static UnifiedJedis master;

	private final ApplicationContextRunner runner = runner("ratelimit.redis");

	private static ApplicationContextRunner runner(String prefix) {
		return StarterRunners.nonWeb()
			.withPropertyValues(redis.properties(prefix))
			.withPropertyValues("ratelimit.redis.timeout=2s");
	}

	@BeforeAll
	static void start() {
		redis = new OwnSentinel();
		master = redis.master();
	}

	@AfterAll
	static void stop() {
		master.close();
		redis.close();
	}

	/** A sentinel itself has no counts. */
	@Test
	void unknownMasterWrongLoginAndSentinelAreTold(CapturedOutput output) {
		runner("spring.data.redis").withPropertyValues("spring.data.redis.sentinel.master=other")
			.run(RedisCheckIT::check);
		this.runner.withPropertyValues("ratelimit.redis.sentinel.password=wrong").run(RedisCheckIT::check);
		assertThat(output).contains(
				"The sentinel 127.0.0.1:%d does not know the master 'other': is spring.data.redis.sentinel.master right? Tried"
					.formatted(redis.port()),
				"The sentinel 127.0.0.1:%d refuses to name the master: are ratelimit.redis.sentinel.nodes and the login (ratelimit.redis.sentinel.username, ratelimit.redis.sentinel.password) right? Tried"
					.formatted(redis.port()));
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.url=redis://guard:open@127.0.0.1:" + redis.port())
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("ratelimit.redis.url")
				.hasMessageContaining("set ratelimit.redis.sentinel.master and ratelimit.redis.sentinel.nodes"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "password=${guard.password}",
			"credentials=guard ratelimit.redis.sentinel.username= ratelimit.redis.sentinel.password=" })
	void sentinelsAreLoggedInToAgainWithTheNewPassword(String login) {
		Map<String, Object> current = new HashMap<>(Map.of("guard.password", "old"));
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("login", current)))
			.withBean("guard", RedisCredentialsProvider.class,
					() -> () -> new DefaultRedisCredentials("guard", current.get("guard.password").toString()))
			.withPropertyValues(("ratelimit.redis.sentinel." + login).split(" "))
			.run((context) -> {
				RateLimiter limiter = context.getBean(RateLimiter.class);
				assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL));
				current.put("guard.password", "open");
				Awaitility.await()
					.atMost(PATIENCE)
					.ignoreExceptionsInstanceOf(StoreException.class)
					.until(() -> limiter.peek(RateLimitRequest.of(POLICY, Identifier.GLOBAL)).allowed());
			});
	}

	@Test
	void countsArriveAtThePresentMasterUntilApplicationIsStopped(CapturedOutput output) {
		assertCountsArrive("ratelimit.redis", 1);
		assertCountsArrive("spring.data.redis", 2);
		assertConnectionToFormerMasterIsNotUsedAgain();
		assertThat(output).contains("Rate limits are counted in Redis at the master main of the sentinels [127.0.0.1:")
			.doesNotContain("secret", "=open");
	}

	private static void assertCountsArrive(String prefix, int used) {
		runner(prefix).run((context) -> {
			assertThat(used(context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL))).isEqualTo(used);
			assertThat(master.dbSize()).isEqualTo(1);
			assertThat(master.info("keyspace")).contains("db2:keys=1");
			assertThat(clients()).isNotEmpty();
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).stop();
			Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
				assertThat(clients()).isEmpty();
				assertThat(redis.clients()).isEmpty();
				assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
					.noneMatch((name) -> name.contains("entinel") && name.contains(":" + redis.port()));
			});
		});
	}

	/**
	 * The former master hangs for so long that it is given up, and then goes on as if
	 * nothing had been.
	 */
	private void assertConnectionToFormerMasterIsNotUsedAgain() {
		this.runner.withPropertyValues("ratelimit.redis.connections=1").run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			Replication.await(() -> master.info("replication"));
			try (StoppedServer hanging = StoppedServer.stop(master)) {
				redis.awaitSwitch();
			}
			assertThat(clients()).hasSize(1);
			String before = scriptCalls();
			limiter.tryAcquire(POLICY, Identifier.GLOBAL);
			assertThat(scriptCalls()).isEqualTo(before);
			assertThat(clients()).isEmpty();
		});
	}

	private static String scriptCalls() {
		return master.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_evalsha:"))
			.map((line) -> line.replaceAll(",.*", ""))
			.findFirst()
			.orElseThrow();
	}

	private static List<String> clients() {
		return new String((byte[]) master.executeCommand(new CommandArguments(Command.CLIENT).add("LIST"))).lines()
			.filter((line) -> line.contains(" name=app-1 "))
			.toList();
	}

	private static long used(Decision decision) {
		return QUOTA - decision.statuses().stream().mapToLong(LimitStatus::remaining).sum();
	}

}
