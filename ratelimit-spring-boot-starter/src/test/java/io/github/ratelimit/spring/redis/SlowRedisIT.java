package io.github.ratelimit.spring.redis;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;
import redis.embedded.RedisServer;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the log says of a Redis that answers, but too late, or whose connections break.
 */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class SlowRedisIT {

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
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port);
		try (Jedis admin = new Jedis("127.0.0.1", port)) {
			run(URI.create("redis://127.0.0.1:" + port), "10s", 40, () -> admin
				.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES)));
		}
		finally {
			TestRedis.stop(redis);
		}
		assertThat(warnings(output)).hasSizeLessThanOrEqualTo(1);
	}

	/** The connection that breaks is not the reason. */
	@Test
	void warningNamesTheRotatedPassword(CapturedOutput output) {
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port, "requirepass old");
		try (Jedis admin = new Jedis(URI.create("redis://:old@127.0.0.1:" + port))) {
			run(URI.create("redis://:old@127.0.0.1:" + port), "10s", 2, () -> {
				admin.configSet("requirepass", "new");
				admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
			});
		}
		finally {
			TestRedis.stop(redis);
		}
		assertThat(warnings(output)).singleElement().asString().contains("WRONGPASS");
	}

	private static void run(URI redis, String timeout, int requests, Runnable before) {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.redis.url=" + redis, "ratelimit.redis.timeout=" + timeout,
					"ratelimit.key-prefix=" + TestRedis.newKeyPrefix(), "ratelimit.defaults.identifiers=global",
					"ratelimit.policies.api.limits=100000/d")
			.run((context) -> {
				decide(context);
				for (int i = 0; i < requests; i++) {
					before.run();
					decide(context);
				}
			});
	}

	private static void decide(ApplicationContext context) {
		context.getBean(PolicyEnforcer.class)
			.enforce(List
				.of(new PolicyUse(context.getBean(ConfiguredPolicies.class).find("api").orElseThrow(), 1, Map.of())));
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("WARN") && line.contains("tore")).toList();
	}

}
