package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Three masters, each with a replica. Of the nodes that are configured one does not
 * exist.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisClusterIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(100, Duration.ofDays(3650)));

	/** More than there are nodes, so that they are on several. */
	private static final Identifier[] USERS = IntStream.range(0, 20)
		.mapToObj((i) -> Identifier.user("user" + i))
		.toArray(Identifier[]::new);

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withPropertyValues("ratelimit.key-prefix=" + this.keyPrefix, "ratelimit.redis.timeout=2s",
				"ratelimit.redis.client-name=" + this.keyPrefix, "ratelimit.defaults.identifiers=global",
				"ratelimit.policies.closed.limits=100/3650d", "ratelimit.policies.closed.on-store-failure=deny");

	private static String nodes() {
		return CLUSTER.nodes()
			.stream()
			.limit(2)
			.map((node) -> node.address().toString())
			.collect(Collectors.joining(",")) + ",127.0.0.1:" + TestRedis.freePort();
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void requestsAreCountedOnAllNodes(String prefix, CapturedOutput output) {
		this.runner.withPropertyValues(prefix + ".cluster.nodes=" + nodes()).run((context) -> {
			assertCounts(context);
			assertThat(clients()).as("masters with connections").isGreaterThanOrEqualTo(3);
		});
		assertThat(output).contains("Rate limits are counted in Redis at the cluster of the nodes [127.0.0.1:");
		TestCluster.await("No connection is left", () -> clients() == 0);
	}

	/** It would keep the counts of some identifiers only. */
	@ParameterizedTest
	@CsvSource({ "ratelimit.redis.url, redis://%s", "spring.data.redis.url, redis://%s", "ratelimit.redis.host, %s" })
	void startFailsWhenOneServerIsANode(String property, String value) {
		HostAndPort node = CLUSTER.nodes().get(0).address();
		String prefix = property.substring(0, property.lastIndexOf('.'));
		boolean url = property.endsWith(".url");
		this.runner
			.withPropertyValues(property + "=" + value.formatted(url ? node : node.getHost()),
					url ? "test=" : prefix + ".port=" + node.getPort())
			.run((context) -> {
				assertThat(StartFailure.refusal(context).getName()).isEqualTo(property);
				assertThat(StartFailure.refusal(context).getReason())
					.isEqualTo("The server is a node of a cluster, which may have only some of the counts: set "
							+ "%s.cluster.nodes instead of %s.".formatted(prefix, property));
			});
	}

	private void assertCounts(ApplicationContext context) {
		RateLimiter limiter = context.getBean(RateLimiter.class);
		assertThat(limiter.tryAcquire(RateLimitRequest.of(POLICY, USERS)).statuses()).extracting(LimitStatus::remaining)
			.hasSize(USERS.length)
			.containsOnly(99L);
		assertThat(CLUSTER.nodes().stream().filter(Node::isMaster))
			.allSatisfy((master) -> assertThat(master.admin().keys(this.keyPrefix + ":*")).isNotEmpty());
		assertThat(context.getBean(PolicyLimiter.class).tryAcquire("closed").allowed()).isTrue();
		BlockList blocks = context.getBean(BlockList.class);
		blocks.block(USERS[3], null, Duration.ofMinutes(1), "reason");
		assertThat(blocks.blocks()).hasSize(1);
		assertThat(limiter.tryAcquire(RateLimitRequest.of(POLICY, USERS)).blockedFor()).isPositive();
	}

	private long clients() {
		return CLUSTER.nodes()
			.stream()
			.filter((node) -> node.admin().clientList().contains(" name=" + this.keyPrefix + " "))
			.count();
	}

	/** Each node closes the connections of its user. */
	@Test
	void nodesAreLoggedInToWithTheNewPassword() {
		String user = "user-" + this.keyPrefix;
		Map<String, Object> login = new HashMap<>(Map.of("ratelimit.redis.password", "old"));
		atEachNode("SETUSER", user, "on", ">old", "~*", "+@all");
		try {
			this.runner
				.withInitializer((context) -> context.getEnvironment()
					.getPropertySources()
					.addFirst(new MapPropertySource("login", login)))
				.withPropertyValues("ratelimit.redis.cluster.nodes=" + nodes(), "ratelimit.redis.username=" + user)
				.run((context) -> {
					assertCounts(context);
					atEachNode("SETUSER", user, ">new", "<old");
					login.put("ratelimit.redis.password", "new");
					CLUSTER.nodes().forEach((node) -> node.admin().sendCommand(Command.CLIENT, "KILL", "USER", user));
					RateLimiter limiter = context.getBean(RateLimiter.class);
					await().atMost(Duration.ofSeconds(30))
						.ignoreExceptionsInstanceOf(StoreException.class)
						.until(() -> limiter.tryAcquire(RateLimitRequest.of(POLICY, USERS)).blockedFor() != null);
				});
		}
		finally {
			atEachNode("DELUSER", user);
		}
	}

	private static void atEachNode(String... acl) {
		CLUSTER.nodes().forEach((node) -> node.admin().sendCommand(Command.ACL, acl));
	}

	@Test
	void applicationStartsWithoutCluster() {
		int port = TestRedis.freePort();
		this.runner
			.withPropertyValues("ratelimit.redis.cluster.nodes=127.0.0.1:" + port, "ratelimit.redis.timeout=200ms")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> context.getBean(PolicyLimiter.class).tryAcquire("closed"))
					.withStackTraceContaining("None of the nodes [127.0.0.1:" + port + "] has returned the slots");
			});
	}

}
