package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Requests whose identifiers lie on different nodes of a cluster.
 */
@SuppressWarnings("try")
class ClusterSplitIT extends StoreTest {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Policy POLICY = policy(new FixedWindow(), "100/3650d");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	@AutoClose
	private final RedisConnections redis = CLUSTER.connections().build();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.redis, this.keyPrefix);

	private final RedisRateLimiter clocked = this.limiter.withClock(this.clock);

	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	private final RateLimitRequest request = RateLimitRequest.of(new Charge(POLICY, this.users, 1));

	static Stream<Algorithm> algorithms() {
		return RedisFixture.algorithms();
	}

	@EachAlgorithm
	void deniedRequestLeavesNoTraceOnAnyNode(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/d", "100/30d");
		Policy other = policy("other", algorithm, "5/d");
		RateLimitRequest all = RateLimitRequest.of(new Charge(policy, this.users, 2),
				Charge.of(other, this.users.get(0)));
		this.clocked.tryAcquire(policy, this.users.get(1));
		this.clocked.tryAcquire(policy, this.users.get(2), 5);
		List<String> before = ClusterKeys.content(CLUSTER, this.keyPrefix);
		Decision peeked = this.clocked.peek(all);
		Decision denied = this.clocked.tryAcquire(all);
		assertThat(denied).isEqualTo(peeked);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::identifier).containsOnly(this.users.get(2));
		Decision shadow = this.clocked.tryAcquire(RateLimitRequest.of(new Charge(policy, this.users, 2, true)));
		assertThat(shadow.allowed()).isTrue();
		assertThat(shadow.shadows().get("api").violated()).extracting(LimitStatus::identifier)
			.containsOnly(this.users.get(2));
		assertThat(ClusterKeys.content(CLUSTER, this.keyPrefix)).isEqualTo(before);
	}

	/** For a block, a cost that is never allowed, and a denial that leads to a block. */
	@EachAlgorithm
	void countedDenialElsewhereGivesNothingBack(Algorithm algorithm) {
		MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);
		Policy policy = policy(algorithm, "10/d").withCountDenied(true);
		Policy narrow = policy("narrow", algorithm, "3/d").withCountDenied(true);
		Policy guarded = policy("guarded", new FixedWindow(), "0/h")
			.withPenalty(new Penalty(1, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1), false));
		Identifier user = this.users.get(0);
		this.clocked.block(this.users.get(2), null, Duration.ofDays(1), "");
		memory.block(this.users.get(2), null, Duration.ofDays(1), "");
		List<RateLimitRequest> requests = List.of(RateLimitRequest.of(policy, user),
				RateLimitRequest.of(policy, user, this.users.get(2)),
				RateLimitRequest.of(Charge.of(policy, user), Charge.of(narrow, this.users.get(1)).withCost(4)),
				RateLimitRequest.of(Charge.of(policy, user), Charge.of(guarded, this.users.get(1))));
		for (int i = 0; i < 64; i++) {
			RateLimitRequest request = requests.get(i % 4);
			assertThat(this.clocked.tryAcquire(request)).isEqualTo(memory.tryAcquire(request));
			this.clock.advance(Duration.ofSeconds(1));
		}
	}

	@Test
	void eachNodeIsAskedOnce() {
		RateLimitRequest request = RateLimitRequest.of(
				new Charge(policy("wide", new FixedWindow(), "9/d"), this.users, 1),
				new Charge(policy("tried", new FixedWindow(), "9/d"), this.users, 1, true));
		this.limiter.tryAcquire(request);
		List<Long> before = calls();
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(calls()).isEqualTo(before.stream().map((calls) -> calls + 1).toList());
	}

	private static List<Long> calls() {
		return CLUSTER.nodes()
			.stream()
			.filter(Node::isMaster)
			.map((node) -> RedisFixture.sum(node.admin().info("commandstats"), "cmdstat_evalsha:calls=(\\d+)"))
			.toList();
	}

	/** The others have counted before the node that hangs goes on, whichever that is. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void allNodesAreAskedBeforeAnyAnswerIsAwaited(int which) {
		assertThat(this.limiter.tryAcquire(this.request).allowed()).isTrue();
		try (RedisConnections other = CLUSTER.connections().timeBudget(Duration.ofMinutes(1)).build();
				UnifiedJedis ofNode = JedisClients.create(node(which).address())) {
			RedisRateLimiter witness = RedisRateLimiter.of(other, this.keyPrefix);
			witness.peek(this.request);
			CompletableFuture<Decision> decision;
			try (StoppedServer server = StoppedServer.stop(ofNode)) {
				decision = CompletableFuture.supplyAsync(() -> this.limiter.tryAcquire(this.request));
				for (Identifier user : this.users) {
					if (user != this.users.get(which)) {
						TestCluster.await("Counted for " + user,
								() -> remaining(witness, POLICY, user).equals(List.of(98L)));
					}
				}
				assertThat(decision).isNotDone();
			}
			assertThat(decision.join().allowed()).isTrue();
		}
	}

	private Node node(int which) {
		return CLUSTER.master(ClusterKeys.slot(this.users.get(which)));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void decisionEndsWhenOneNodeHangs(int which) {
		try (RedisConnections redis = CLUSTER.connections().timeBudget(Duration.ofSeconds(1)).connections(1).build();
				UnifiedJedis ofNode = JedisClients.create(node(which).address())) {
			RateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			TestCluster.await("All nodes answer", () -> isAllowed(() -> limiter.peek(this.request)));
			assertThat(this.limiter.tryAcquire(this.request).allowed()).isTrue();
			List<Identifier> others = this.users.stream().filter((user) -> user != this.users.get(which)).toList();
			try (StoppedServer server = StoppedServer.stop(ofNode)) {
				// Who waits may notice it sooner than who reads.
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(this.request))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isIn(RedisErrorKind.NODE,
							RedisErrorKind.TIMEOUT));
				others.forEach((user) -> TestCluster.await("Cancelled for " + user, () -> used(POLICY, user) == 1));
				others.forEach((user) -> TestCluster.await("Allowed for " + user,
						() -> isAllowed(() -> limiter.tryAcquire(POLICY, user))));
			}
			TestCluster.await("The late answer is cancelled", () -> used(POLICY, this.users.get(which)) == 1);
			TestCluster.await("The node is asked again", () -> isAllowed(() -> limiter.tryAcquire(this.request)));
		}
	}

	private long used(Policy policy, Identifier user) {
		return policy.limits().get(0).quota() - remaining(this.limiter, policy, user).get(0);
	}

	/**
	 * What is held at the moment may deny others, but nothing is lost or admitted twice.
	 */
	@EachAlgorithm
	void noMoreThanTheQuotasIsAllowedOrStaysReserved(Algorithm algorithm) throws Exception {
		assertThat(ConcurrencyIT.useSharedQuota(algorithm, List.of(this.limiter))).isBetween(1L, 100L);
	}

	@Test
	void manyIdentifiersAreDecidedTogether() {
		Policy policy = policy(new SlidingLog(), "3/h");
		Identifier[] many = IntStream.range(0, RateLimitRequest.MAX_STATUSES)
			.mapToObj((i) -> Identifier.user("many" + i))
			.toArray(Identifier[]::new);
		RateLimitRequest request = RateLimitRequest.of(policy, many);
		for (long remaining = 2; remaining >= 0; remaining--) {
			assertThat(this.limiter.tryAcquire(request).statuses()).extracting(LimitStatus::remaining)
				.hasSize(many.length)
				.containsOnly(remaining);
		}
		assertThat(this.limiter.tryAcquire(request).violated()).hasSize(many.length);
		this.limiter.refund(request);
		assertThat(this.limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsOnly(1L);
	}

	/** Those of Jedis wait without an end unless they are told otherwise. */
	@Test
	@SuppressWarnings("deprecation")
	void connectionOfTheClientIsNotAwaitedForEver() {
		Policy policy = policy(new FixedWindow(), "3/h");
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.get(0));
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(1);
		try (JedisCluster jedis = jedisCluster(pool)) {
			RateLimiter limiter = RedisRateLimiter
				.of(RedisConnections.client(jedis).timeBudget(Duration.ofSeconds(1)).build(), this.keyPrefix);
			// Knows which node it has to ask.
			TestCluster.await("The node has answered", () -> isAllowed(() -> limiter.tryAcquire(request)));
			String node = node(0).address().toString();
			try (Connection ofAnother = jedis.getClusterNodes().get(node).getResource()) {
				assertThat(ofAnother.isConnected()).isTrue();
				assertTimeoutPreemptively(Duration.ofSeconds(30),
						() -> assertThatExceptionOfType(StoreException.class)
							.isThrownBy(() -> limiter.tryAcquire(request))
							.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.OVERLOAD)));
			}
			TestCluster.await("The node is asked again", () -> isAllowed(() -> limiter.tryAcquire(request)));
			assertThat(used(policy, this.users.get(0))).isEqualTo(2);
		}
	}

	@SuppressWarnings("deprecation")
	private static JedisCluster jedisCluster(ConnectionPoolConfig pool) {
		return new JedisCluster(CLUSTER.addresses(), DefaultJedisClientConfig.builder().build(), 1, pool);
	}

}
