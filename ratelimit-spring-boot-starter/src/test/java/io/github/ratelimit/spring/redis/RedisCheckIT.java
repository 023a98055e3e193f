package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the log says of Redis once an application is ready.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisCheckIT {

	private static final String WARNING = "Requests are limited by each instance alone";

	/** Much longer than any start takes, and shorter than Redis is waited for. */
	private static final Duration SOON = Duration.ofMinutes(2);

	@Test
	void warningSaysOnceThatNobodyIsThere(CapturedOutput output) {
		int port = TestRedis.freePort();
		try (ConfigurableApplicationContext context = start(port, "2s")) {
			await().atMost(SOON).untilAsserted(() -> assertThat(output).contains(WARNING));
			assertThat(output).containsOnlyOnce(WARNING)
				.contains("Is Redis running, and is ratelimit.redis.url right? Tried: 127.0.0.1:%d, without TLS. "
					.formatted(port))
				.contains("Connection refused");
			assertThat(context.isActive()).isTrue();
		}
	}

	@Test
	void warningSaysWhatBecomesOfTheRequestsOfEachPolicy(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("", TestRedis.freePort(), "2s",
				"--ratelimit.policies.login.limits=5/m", "--ratelimit.policies.login.on-store-failure=deny",
				"--ratelimit.policies.api.limits=5/m", "--ratelimit.policies.api.on-store-failure=local",
				"--ratelimit.policies.tried.limits=5/m", "--ratelimit.policies.tried.on-store-failure=deny",
				"--ratelimit.policies.tried.mode=shadow", "--ratelimit.instances=2")) {
			context.getBean(RedisCheck.class).check(context);
			assertThat(output).contains(WARNING + ", but those of the policies [tried] are allowed without limits, "
					+ "but those of the policies [login] are denied. Is Redis running");
		}
	}

	@Test
	void warningSaysThatEncryptionWasTried(CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.started();
				ConfigurableApplicationContext context = start("", TestRedis.freePort(), "2s",
						"--ratelimit.redis.url=rediss://user:topsecret@127.0.0.1:" + redis.port())) {
			context.getBean(RedisCheck.class).check(context);
			assertThat(output).contains("Tried: 127.0.0.1:%d, with TLS. ".formatted(redis.port()))
				.doesNotContain("topsecret");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					requirepass secret                  | :wrong@    |  | Are the name and the password of the user 'default' right (ratelimit.redis.username, ratelimit.redis.password)? In a URL, special characters must be percent-encoded, such as %40 for @ and %25 for %.
					user app on >pw ~* +@all            | app:wrong@ |  | Are the name and the password of the user 'app' right (ratelimit.redis.username, ratelimit.redis.password)? In a URL, special characters must be percent-encoded, such as %40 for @ and %25 for %.
					requirepass secret                  |            |  | Redis requires a login: is its password configured in ratelimit.redis.password?
					rename-command TIME hidden          |            |  | The command TIME, which scripts need, is forbidden to the user 'default', or renamed: allow it, or set ratelimit.redis.scripting to false.
					user app on >pw ~* +@all -time      | app:pw@    |  | The command TIME, which scripts need, is forbidden to the user 'app', or renamed: allow it, or set ratelimit.redis.scripting to false.
					user app on >pw ~* +@all -evalsha   | app:pw@    |  | The command EVALSHA is forbidden to the user 'app', or renamed: allow it and EVAL, or set ratelimit.redis.scripting to false.
					user app on >pw ~* +@all -mget      | app:pw@    |  | Does the user 'app' have the permissions that docs/redis.md lists?
					databases 2                         |            | /5 | Is there a database 5 (ratelimit.redis.database)?
					""")
	void warningNamesTheWayOut(String setting, @Nullable String login, @Nullable String path, String advice,
			CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.started(setting);
				ConfigurableApplicationContext context = start("", redis.port(), "10s",
						"--ratelimit.redis.url=redis://%s127.0.0.1:%d%s".formatted((login != null) ? login : "",
								redis.port(), (path != null) ? path : ""))) {
			context.getBean(RedisCheck.class).check(context);
			assertThat(output).contains(WARNING).contains(advice + " Tried").doesNotContain(":pw@", "wrong@");
		}
	}

	@Test
	void warningNamesThePropertyOfSpring(CapturedOutput output) {
		int port = TestRedis.freePort();
		try (ConfigurableApplicationContext context = StarterRunners.application(Application.class)
			.web(WebApplicationType.NONE)
			.run("--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + port)) {
			context.getBean(RedisCheck.class).check(context);
			assertThat(output)
				.contains("Is Redis running, and is spring.data.redis.host right? Tried: 127.0.0.1:" + port);
		}
	}

	/** Without a request. */
	@Test
	void failureOfTheCheckIsKnownUntilRedisAnswers(CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.stopped(); ConfigurableApplicationContext context = start(redis.port(), "2s")) {
			Decider decider = context.getBean(Decider.class);
			await().atMost(SOON).until(() -> decider.outage().failingSince().isPresent());
			redis.start();
			await().atMost(SOON).until(() -> decider.outage().failingSince().isEmpty());
			assertThat(output.getOut().lines().filter((line) -> line.contains("WARN"))).singleElement()
				.asString()
				.contains("The store failed: until it answers, the on-store-failure of each policy applies. " + WARNING,
						"Tried: 127.0.0.1:" + redis.port());
			assertThat(output).containsOnlyOnce("The store answers again: limits are enforced");
		}
	}

	@Test
	void thereIsNoWarningWhenRedisAnswers(CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.started(); ConfigurableApplicationContext context = start(redis.port(), "10s")) {
			context.getBean(RedisCheck.class).check(context);
			assertThat(output).contains("Rate limits are counted in Redis at 127.0.0.1:" + redis.port())
				.doesNotContain(WARNING);
		}
	}

	/** It takes long to answer, but not for ever: nothing is wrong. */
	@Test
	void thereIsNoWarningWhenRedisIsSlowAtFirst(CapturedOutput output) throws Exception {
		try (OwnRedis redis = OwnRedis.started(); ConfigurableApplicationContext context = start(redis.port(), "10s")) {
			AtomicInteger asked = new AtomicInteger();
			RateLimiter busy = (RateLimiter) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { RateLimiter.class }, (proxy, method, arguments) -> {
						if (asked.incrementAndGet() < 3) {
							throw new StoreBusyException("Redis failed", new IllegalStateException("busy"), "");
						}
						return method.invoke(context.getBean(RateLimiter.class), arguments);
					});
			new RedisCheck(TestRedis.connections(), busy, context.getBean(Decider.class),
					context.getBean(ConfiguredPolicies.class), null)
				.check(context);
			assertThat(asked).hasValue(3);
			assertThat(output).doesNotContain(WARNING);
		}
	}

	/** It refuses at once, as it does when others use all connections of a pool. */
	@Test
	void busyRedisIsNotAskedWithoutAPause() {
		AtomicInteger asked = new AtomicInteger();
		RateLimiter busy = (RateLimiter) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RateLimiter.class }, (proxy, method, arguments) -> {
					asked.incrementAndGet();
					throw new StoreBusyException("Redis failed", new IllegalStateException("busy"), "");
				});
		warmUp(TestRedis.connections(), busy, null);
		assertThat(asked).hasValueBetween(2, 100);
	}

	/** They would wait for up to ten seconds otherwise. */
	@Test
	void requestsWaitOnlyTheirTimeWhileServerIsStillDiagnosed() throws IOException {
		try (TricklingServer endless = new TricklingServer(false);
				OwnRedis redis = OwnRedis.started();
				FaultyProxy slow = new FaultyProxy(URI.create("redis://127.0.0.1:" + redis.port()));
				RedisConnections connections = RedisConnections
					.server(new HostAndPort("127.0.0.1", slow.uri().getPort()))
					.timeBudget(Duration.ofSeconds(1))
					.build()) {
			// The answers to the login and to two commands come in time one by one only.
			slow.delay(Duration.ofMillis(600));
			RateLimiter limiter = RedisRateLimiter.of(connections);
			warmUp(connections, limiter,
					new RedisServer(new HostAndPort("127.0.0.1", endless.port()), null, null, 0, null, "url"));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter
				.tryAcquire(Policy.of("api", new FixedWindow(), Limit.parse("10/s")), Identifier.GLOBAL));
		}
	}

	private static void warmUp(RedisConnections connections, RateLimiter limiter, @Nullable RedisServer server) {
		RedisCheck check = new RedisCheck(connections, limiter, new Decider(limiter, List.of(), List::of),
				new ConfiguredPolicies(Map.of(), List.of("ip")), server);
		check.afterPropertiesSet();
		check.afterSingletonsInstantiated();
	}

	@Test
	void scriptsOfPoliciesAreLoadedBeforeTheFirstRequest() {
		try (OwnRedis redis = OwnRedis.started();
				ConfigurableApplicationContext context = start("", redis.port(), "10s",
						"--ratelimit.policies.api.limits=5/m", "--ratelimit.policies.api.identifiers=global");
				UnifiedJedis jedis = RedisClient.create("127.0.0.1", redis.port())) {
			long evals = calls(jedis, "eval");
			assertThat(evals).isEqualTo(2);
			context.getBean(RateLimiter.class)
				.tryAcquire(context.getBean(ConfiguredPolicies.class).find("api").orElseThrow().policy(),
						Identifier.GLOBAL);
			assertThat(calls(jedis, "eval")).isEqualTo(evals);
			assertThat(jedis.keys("*")).hasSize(1);
		}
	}

	private static long calls(UnifiedJedis jedis, String command) {
		return jedis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_" + command + ":"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll(".*?calls=(\\d+),.*", "$1")))
			.sum();
	}

	/** If it waited, it would end with the warning. */
	@Test
	void startDoesNotWaitForRedis(CapturedOutput output) throws IOException {
		try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
				ConfigurableApplicationContext context = start(hanging.getLocalPort(), "10m")) {
			assertThat(context.isActive()).isTrue();
			assertThat(output).doesNotContain(WARNING);
		}
	}

	private static ConfigurableApplicationContext start(int port, String timeout) {
		return start("", port, timeout);
	}

	private static ConfigurableApplicationContext start(String login, int port, String timeout, String... properties) {
		return StarterRunners.application(Application.class)
			.web(WebApplicationType.NONE)
			.properties("ratelimit.redis.url=redis://" + login + "127.0.0.1:" + port,
					"ratelimit.redis.timeout=" + timeout)
			.run(properties);
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

}
