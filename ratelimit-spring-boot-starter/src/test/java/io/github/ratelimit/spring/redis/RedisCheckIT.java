package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the log says of Redis once an application is ready, also if Redis answers too
 * late, or its connections break.
 */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class RedisCheckIT {

	static final String WARNING = "Requests are limited by each instance alone";

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("10/s"));

	/** Much longer than any start takes, and shorter than Redis is waited for. */
	private static final Duration SOON = Duration.ofMinutes(2);

	private static OwnRedis guarded;

	private static OwnRedis renamed;

	@BeforeAll
	static void start() {
		guarded = OwnRedis.started("requirepass secret", "databases 2", "user all on >pw ~* +@all",
				"user time on >pw ~* +@all -time", "user evalsha on >pw ~* +@all -evalsha",
				"user mget on >pw ~* +@all -mget");
		renamed = OwnRedis.started("requirepass renamed", "rename-command TIME hidden");
	}

	@AfterAll
	static void stop() {
		guarded.close();
		renamed.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					ratelimit.redis.host=127.0.0.1 ratelimit.redis.port=%d ratelimit.policies.login.on-store-failure=deny ratelimit.policies.tried.mode=shadow | ", but those of the policies [tried] are allowed without limits, but those of the policies [login] are denied. Is Redis running, and is ratelimit.redis.host right? Tried: 127.0.0.1:%d, without TLS. "
					ratelimit.redis.url=rediss://user:topsecret@127.0.0.1:%d | "Tried: 127.0.0.1:%d, with TLS. "
					spring.data.redis.host=127.0.0.1 spring.data.redis.port=%d | "Is Redis running, and is spring.data.redis.host right? Tried: 127.0.0.1:%d"
					""")
	void warningSaysWhatWasTriedAndWhatBecomesOfRequests(String properties, String expected, CapturedOutput output) {
		int port = TestRedis.freePort();
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.policies.login.limits=5/m", "ratelimit.policies.tried.limits=5/m")
			.withPropertyValues(properties.formatted(port).split(" "))
			.run(RedisCheckIT::check);
		assertThat(output).contains(WARNING)
			.contains(expected.replace("\"", "").formatted(port))
			.doesNotContain("topsecret");
	}

	/** Asks Redis, and warns if it cannot be used, as when the application is ready. */
	static void check(AssertableApplicationContext context) {
		context.getBean(RedisCheck.class)
			.check(context.getSourceApplicationContext(ConfigurableApplicationContext.class));
	}

	/** Which servers answer so; the core tells the kinds of all errors. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					:wrong@          | Are the name and the password of the user 'default' right (ratelimit.redis.username, ratelimit.redis.password)? In a URL, special characters must be percent-encoded, such as %40 for @ and %25 for %.
					all:wrong@       | Are the name and the password of the user 'all' right (ratelimit.redis.username, ratelimit.redis.password)? In a URL, special characters must be percent-encoded, such as %40 for @ and %25 for %.
					''               | Redis requires a login: is its password configured in ratelimit.redis.password?
					time:pw@         | The command TIME, which scripts need, is forbidden to the user 'time', or renamed: allow it, or set ratelimit.redis.scripting to false.
					evalsha:pw@      | The command EVALSHA is forbidden to the user 'evalsha', or renamed: allow it and EVAL, or set ratelimit.redis.scripting to false.
					mget:pw@         | Does the user 'mget' have the permissions that docs/redis.md lists?
					:secret@         | Is there a database 5 (ratelimit.redis.database)?
					:renamed@        | The command TIME, which scripts need, is forbidden to the user 'default', or renamed: allow it, or set ratelimit.redis.scripting to false.
					""")
	void diagnosisNamesTheWayOut(String login, String advice) {
		int port = login.equals(":renamed@") ? renamed.port() : guarded.port();
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.timeout=10s",
					"ratelimit.redis.url=redis://%s127.0.0.1:%d%s".formatted(login, port,
							login.startsWith(":s") ? "/5" : ""))
			.run((context) -> {
				StoreException failure = catchThrowableOfType(StoreException.class,
						() -> context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL));
				assertThat(Diagnosis.of(failure, context.getBean(RedisServer.class))).isEqualTo(advice);
			});
	}

	/** Without a request. */
	@Test
	void warningSaysOnceThatNobodyIsThereUntilRedisAnswers(CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.stopped(); ConfigurableApplicationContext context = start(redis.port(), "2s")) {
			Decider decider = context.getBean(Decider.class);
			await().atMost(SOON).until(() -> decider.outage().failingSince().isPresent());
			redis.start();
			await().atMost(SOON).until(() -> decider.outage().failingSince().isEmpty());
			assertThat(output.getOut().lines().filter((line) -> line.contains("WARN"))).singleElement()
				.asString()
				.contains(
						"The store failed: until it answers, the on-store-failure of each policy applies. " + WARNING);
			assertThat(output).containsOnlyOnce("The store answers again: limits are enforced");
		}
	}

	/** It refuses at once, as it does when others use all connections of a pool. */
	@ParameterizedTest
	@CsvSource({ "2, true, 3, 3", "1000000, false, 2, 100" })
	void busyRedisIsAskedAgainWithPauses(int busy, boolean failFast, int least, int most) {
		AtomicInteger asked = new AtomicInteger();
		warmUp(TestRedis.connections(), answering(RedisRateLimiter.of(TestRedis.connections()), () -> {
			if (asked.incrementAndGet() <= busy) {
				throw new StoreBusyException("Redis failed", new IllegalStateException("busy"), "");
			}
		}), null, failFast);
		assertThat(asked).hasValueBetween(least, most);
	}

	/** Whatever it is: it is not told as a missing answer. */
	@Test
	void startFailsFastWithReasonOfAnyException() {
		RateLimiter broken = answering(RedisRateLimiter.of(TestRedis.connections()), () -> {
			throw new IllegalStateException("broken");
		});
		assertThatExceptionOfType(RedisUnusableException.class)
			.isThrownBy(() -> warmUp(TestRedis.connections(), broken, null, true))
			.withMessageStartingWith("Redis cannot be used: java.lang.IllegalStateException: broken")
			.withMessageContaining("Property: ratelimit.redis.client");
	}

	static RateLimiter answering(RateLimiter redis, Runnable before) {
		return new DelegatingRateLimiter(redis) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				before.run();
				return super.tryAcquire(request);
			}

		};
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
					new RedisServer(new HostAndPort("127.0.0.1", endless.port()), null, null, 0, null, null, "url"),
					false);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL));
		}
	}

	private static void warmUp(RedisConnections connections, RateLimiter limiter, @Nullable RedisServer server,
			boolean failFast) {
		RedisCheck check = new RedisCheck(connections, limiter, new Decider(limiter, List.of(), List::of),
				new ConfiguredPolicies(Map.of(), List.of("ip")), server, failFast);
		check.afterPropertiesSet();
		check.afterSingletonsInstantiated();
	}

	@Test
	void scriptsOfPoliciesAreLoadedBeforeTheFirstRequest() {
		try (OwnRedis redis = OwnRedis.started();
				ConfigurableApplicationContext context = start(redis.port(), "10s",
						"--ratelimit.policies.api.limits=5/m", "--ratelimit.policies.api.identifiers=global");
				UnifiedJedis jedis = RedisClient.create("127.0.0.1", redis.port())) {
			assertThat(jedis.info("commandstats")).contains("cmdstat_eval:calls=2,");
			context.getBean(RateLimiter.class)
				.tryAcquire(context.getBean(ConfiguredPolicies.class).find("api").orElseThrow().policy(),
						Identifier.GLOBAL);
			assertThat(jedis.info("commandstats")).contains("cmdstat_eval:calls=2,");
			assertThat(jedis.keys("*")).hasSize(1);
		}
	}

	/** Also if beans are created late. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void startFailsFastWithReasonBeforeAdvice(boolean lazy, CapturedOutput output) {
		int port = TestRedis.freePort();
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> start(port, "1s",
				"--ratelimit.redis.fail-fast=true", "--spring.main.lazy-initialization=" + lazy));
		assertThat(output.getOut().replaceAll("\\s+", " ")).contains(
				"Description: Redis cannot be used: Failed to connect to 127.0.0.1:%1$d: java.net.ConnectException: Connection refused Server: 127.0.0.1:%1$d, without TLS Property: ratelimit.redis.url The application does not start without it, because ratelimit.redis.fail-fast is true. Action: Is Redis running, and is ratelimit.redis.url right?"
					.formatted(port))
			.doesNotContain("\"true\"", "'true'");
	}

	/** What Redis answers may be an error. */
	@ParameterizedTest
	@CsvSource({ "all, pw, starts", "mget, pw, run this command", "all, wrong, WRONGPASS" })
	void startFailsFastUnlessRedisDecides(String user, String password, String reason) {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.fail-fast=true", "ratelimit.redis.timeout=10s",
					"ratelimit.redis.url=redis://%s:%s@127.0.0.1:%d".formatted(user, password, guarded.port()))
			.run((context) -> assertThat(Objects.toString(context.getStartupFailure(), "starts")).contains(reason));
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

	@Test
	void oneWarningHasTheMeasuredTimeAndTheProperty(CapturedOutput output) {
		try (FaultyProxy far = new FaultyProxy(TestRedis.uri())) {
			far.delay(Duration.ofMillis(300));
			run(far.uri(), "100ms", 40, () -> {
			});
		}
		assertThat(warnings(output)).singleElement()
			.asString()
			.containsPattern("the last answer took \\d{3,} ms")
			.contains("ratelimit.redis.timeout");
		assertThat(output.getOut()
			.lines()
			.filter((line) -> line.contains("does not answer") || line.contains("answers again"))).hasSizeLessThan(3);
	}

	@Test
	void oneWarningIsLoggedWhenConnectionsBreakAgainAndAgain(CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.started(); Jedis admin = new Jedis("127.0.0.1", redis.port())) {
			run(URI.create("redis://127.0.0.1:" + redis.port()), "10s", 40, () -> kill(admin));
		}
		assertThat(warnings(output)).hasSizeLessThanOrEqualTo(1);
	}

	/** The connection that breaks is not the reason. */
	@Test
	void warningNamesTheRotatedPassword(CapturedOutput output) {
		try (OwnRedis redis = OwnRedis.started("requirepass old")) {
			URI old = URI.create("redis://:old@127.0.0.1:" + redis.port());
			try (Jedis admin = new Jedis(old)) {
				run(old, "10s", 2, () -> {
					admin.configSet("requirepass", "new");
					kill(admin);
				});
			}
		}
		assertThat(warnings(output)).singleElement().asString().contains("WRONGPASS");
	}

	private static void kill(Jedis admin) {
		admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
	}

	private static void run(URI redis, String timeout, int requests, Runnable before) {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.url=" + redis, "ratelimit.redis.timeout=" + timeout,
					"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(), "ratelimit.defaults.identifiers=global",
					"ratelimit.policies.api.limits=100000/d")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				limiter.tryAcquire("api");
				for (int i = 0; i < requests; i++) {
					before.run();
					limiter.tryAcquire("api");
				}
			});
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("WARN") && line.contains("tore")).toList();
	}

	private static ConfigurableApplicationContext start(int port, String timeout, String... properties) {
		return StarterRunners.application(Application.class)
			.web(WebApplicationType.NONE)
			.properties("ratelimit.redis.url=redis://127.0.0.1:" + port, "ratelimit.redis.timeout=" + timeout)
			.run(properties);
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

}
