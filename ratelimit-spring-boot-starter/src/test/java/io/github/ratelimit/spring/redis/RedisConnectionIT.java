package io.github.ratelimit.spring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.RedisCredentialsProvider;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.executors.RetryableCommandExecutor;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.embedded.RedisServer;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

/**
 * Counts arrive on the server that is configured. It has a password, so no other server
 * will do.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisConnectionIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("5/d"));

	private static final String HANGING = "Does the bean 'hanging' (ratelimit.redis.credentials) wait for something that does not answer? Give its client a time-out.";

	private static final String PREFIX = TestRedis.newKeyPrefix();

	private static int port;

	private static RedisServer server;

	private static UnifiedJedis jedis;

	private final ApplicationContextRunner withoutPrefix = StarterRunners.nonWeb()
		.withPropertyValues("ratelimit.redis.timeout=10s");

	private final ApplicationContextRunner runner = this.withoutPrefix
		.withPropertyValues("ratelimit.key-prefix=" + PREFIX);

	@BeforeAll
	static void start() {
		port = TestRedis.freePort();
		server = TestRedis.startServer(port, "requirepass secret");
		jedis = connect();
	}

	@AfterAll
	static void stop() {
		jedis.close();
		TestRedis.stop(server);
	}

	@BeforeEach
	void forget() {
		jedis.flushAll();
	}

	/** No client of the application is used unless it is named. */
	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.url=redis://:secret@127.0.0.1:%d",
			"ratelimit.redis.host=127.0.0.1 ratelimit.redis.port=%d ratelimit.redis.password=secret",
			"spring.data.redis.host=127.0.0.1 spring.data.redis.port=%d spring.data.redis.password=secret",
			"spring.data.redis.url=redis://:secret@127.0.0.1:%d",
			"ratelimit.redis.client=mine spring.data.redis.url=redis://127.0.0.1:1",
			"ratelimit.redis.credentials=login ratelimit.redis.url=redis://127.0.0.1:%d" })
	void countsArriveWhenServerIsConfigured(String properties) {
		assertCountsArrive(this.runner.withUserConfiguration(Logins.class)
			.withBean("mine", UnifiedJedis.class,
					properties.contains("=mine") ? RedisConnectionIT::connect
							: () -> RedisClient.create("127.0.0.1", 1))
			.withPropertyValues(properties.formatted(port).split(" ")));
	}

	@Test
	void startFailsWhenBeanKnowsNoLogin() {
		this.runner.withUserConfiguration(Logins.class)
			.withPropertyValues("ratelimit.redis.host=127.0.0.1", "ratelimit.redis.credentials=text")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.redis.credentials", "text",
					"Must be the name of a bean of type RedisCredentialsProvider, or another Supplier<RedisCredentials>: there are only [login, wrong, failing]."));
	}

	@ParameterizedTest
	@CsvSource({ "wrong, WRONGPASS", "failing, no secrets" })
	void warningNamesTheBeanThatDoesNotKnowTheLogin(String bean, String reason, CapturedOutput output) {
		this.runner.withUserConfiguration(Logins.class)
			.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + port, "ratelimit.redis.credentials=" + bean)
			.run(RedisCheckIT::check);
		assertThat(output).contains(reason,
				"by each instance alone. Does the bean '%s' (ratelimit.redis.credentials) know the login?"
					.formatted(bean));
	}

	/** Such as an HTTP client without a time-out. */
	private ApplicationContextRunner hanging() {
		return this.runner.withBean("hanging", RedisCredentialsProvider.class, () -> () -> {
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			throw new IllegalStateException("interrupted");
		})
			.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + port, "ratelimit.redis.timeout=10ms",
					"ratelimit.redis.credentials=hanging");
	}

	@Test
	@Timeout(120)
	void startFailsFastWithTheBeanThatHangs() {
		hanging().withPropertyValues("ratelimit.redis.fail-fast=true")
			.run((context) -> assertThat(new RedisUnusableException.Analyzer().analyze(context.getStartupFailure()))
				.satisfies((analysis) -> assertThat(analysis.getDescription())
					.contains("The source of the login has not answered"))
				.returns(HANGING, FailureAnalysis::getAction));
	}

	@Test
	@Timeout(120)
	void warningNamesTheBeanThatHangsAndThreadsEnd(CapturedOutput output) {
		hanging().run(RedisCheckIT::check);
		assertThat(output).contains("by each instance alone. " + HANGING);
		await().until(() -> Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().equals("ratelimit-redis-check")));
	}

	@Configuration(proxyBeanMethods = false)
	static class Logins {

		@Bean
		Supplier<RedisCredentials> login() {
			return () -> new DefaultRedisCredentials(null, "secret");
		}

		@Bean
		Supplier<RedisCredentials> wrong() {
			return () -> new DefaultRedisCredentials(null, "wrong");
		}

		@Bean
		RedisCredentialsProvider failing() {
			return () -> {
				throw new IllegalStateException("no secrets");
			};
		}

		@Bean
		Supplier<String> text() {
			return () -> "secret";
		}

	}

	@Test
	void startFailsWhenTheClientSendsAgainByItself() {
		this.runner.withBean("mine", UnifiedJedis.class, () -> {
			ConnectionProvider connections = new PooledConnectionProvider(new HostAndPort("127.0.0.1", port));
			return RedisClient.builder()
				.connectionProvider(connections)
				.commandExecutor(new RetryableCommandExecutor(connections, 3, Duration.ofSeconds(1)))
				.clientConfig(DefaultJedisClientConfig.builder().build())
				.build();
		})
			.withPropertyValues("ratelimit.redis.client=mine")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.redis.client", "mine",
					"Invalid client (redis.clients.jedis.RedisClient): must not send commands again by itself, as its command executor does."));
	}

	@ParameterizedTest
	@CsvSource({ "orders, orders", "order service (new), order-service-new--[0-9a-f]{8}", "'', ratelimit",
			"\u65e5\u672c\u8a9e, --[0-9a-f]{8}",
			"an-application-with-a-name-of-more-than-sixty-four-letters-in-all-x, an-application-with-a-name-of-more-than-sixty-four-lett-[0-9a-f]{8}" })
	void countsAreKeptUnderTheNameOfTheApplication(String name, String prefix) {
		this.withoutPrefix
			.withPropertyValues("spring.application.name=" + name,
					"ratelimit.redis.url=redis://:secret@127.0.0.1:" + port)
			.run((context) -> {
				context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL);
				assertThat(jedis.keys("*")).singleElement(as(STRING)).matches(prefix + ":\\{global.*");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void userWithPasswordCountsInDatabaseUnderName(String prefix) {
		jedis.executeCommand(new CommandArguments(Command.ACL).addObjects("SETUSER", "limiter", "reset", "on",
				">her secret", "~" + PREFIX + ":*", "+evalsha", "+eval", "+time", "+mget", "+set", "+select",
				"+client|setname"));
		this.runner
			.withPropertyValues(prefix + ".host=127.0.0.1", prefix + ".port=" + port, prefix + ".username=limiter",
					prefix + ".password=her secret", prefix + ".database=4", prefix + ".client-name=app-1")
			.run((context) -> {
				assertCountsArrive(context.getBean(RateLimiter.class));
				assertThat(jedis.info("keyspace")).contains("db4:keys=1");
				assertThat(clients()).isNotEmpty()
					.allSatisfy((client) -> assertThat(client).contains(" name=app-1 ", " db=4 ", " user=limiter"));
			});
	}

	@Test
	void thereAreNoMoreConnectionsThanConfigured() {
		this.runner
			.withPropertyValues("ratelimit.redis.url=redis://:secret@127.0.0.1:" + port,
					"ratelimit.redis.connections=1", "ratelimit.redis.client-name=app-2")
			.run((context) -> {
				RateLimiter limiter = context.getBean(RateLimiter.class);
				IntStream.range(0, 200).parallel().forEach((i) -> limiter.tryAcquire(POLICY, Identifier.GLOBAL));
				assertThat(clients()).filteredOn((client) -> client.contains(" name=app-2 ")).hasSize(1);
			});
	}

	@Test
	void identifiersAreNotInRedisWithSecret() {
		this.runner
			.withPropertyValues("ratelimit.redis.url=redis://:secret@127.0.0.1:" + port,
					"ratelimit.identifier-secret=pepper")
			.run((context) -> {
				context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.ip("203.0.113.7"));
				assertThat(jedis.keys("*")).singleElement(STRING).doesNotContain("203.0.113.7").contains("{ip:~");
			});
	}

	/** It takes long to answer, but not for ever: nothing is wrong. */
	@Test
	void thereIsNoWarningWhenRedisIsSlowAtFirst(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.redis.url=redis://:secret@127.0.0.1:" + port).run((context) -> {
			AtomicInteger asked = new AtomicInteger();
			RateLimiter busy = RedisCheckIT.answering(context.getBean(RateLimiter.class), () -> {
				if (asked.incrementAndGet() <= 2) {
					throw new StoreBusyException("Redis failed", new IllegalStateException("busy"), "");
				}
			});
			new RedisCheck(TestRedis.connections(), busy, context.getBean(Decider.class),
					context.getBean(ConfiguredPolicies.class), null, false)
				.check(context.getSourceApplicationContext(ConfigurableApplicationContext.class));
			assertThat(asked).hasValue(3);
			assertThat(output).contains("Rate limits are counted in Redis at 127.0.0.1:" + port)
				.doesNotContain(RedisCheckIT.WARNING);
		});
	}

	/** Connections that count: not that of this test, nor those that never logged in. */
	private static List<String> clients() {
		return new String((byte[]) jedis.executeCommand(new CommandArguments(Command.CLIENT).add("LIST")),
				StandardCharsets.UTF_8)
			.lines()
			.filter((line) -> !line.contains(" cmd=client") && !line.contains(" cmd=NULL"))
			.toList();
	}

	@Test
	void newConnectionTellsServerNothingOfItself() {
		List<String> before = clientCommands();
		this.runner.withPropertyValues("ratelimit.redis.url=redis://:secret@127.0.0.1:" + port).run((context) -> {
			context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL);
			assertThat(clientCommands()).isEqualTo(before);
		});
	}

	private static List<String> clientCommands() {
		return jedis.info("commandstats").lines().filter((line) -> line.startsWith("cmdstat_client")).toList();
	}

	private static void assertCountsArrive(ApplicationContextRunner runner) {
		runner.run((context) -> {
			assertCountsArrive(context.getBean(RateLimiter.class));
			assertThat(jedis.keys(PREFIX + "*")).hasSize(1);
		});
	}

	private static void assertCountsArrive(RateLimiter limiter) {
		Decision decision = limiter.tryAcquire(POLICY, Identifier.GLOBAL);
		assertThat(decision.statuses()).singleElement().hasFieldOrPropertyWithValue("remaining", 4L);
	}

	private static UnifiedJedis connect() {
		return RedisClient.builder()
			.hostAndPort("127.0.0.1", port)
			.clientConfig(DefaultJedisClientConfig.builder().password("secret").build())
			.build();
	}

}
