package io.github.ratelimit.spring.redis;

import java.net.URI;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

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

}
