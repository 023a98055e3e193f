package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
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
class ClusterSplitIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final RedisConnections redis = CLUSTER.connections().build();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.redis, this.keyPrefix);

	/** One on each node. */
	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	@AfterEach
	void close() {
		this.redis.close();
	}

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestLeavesNoTraceOnAnyNode(Algorithm algorithm) {
		RateLimiter limiter = this.limiter.withClock(this.clock);
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/d"), Limit.parse("100/30d"));
		Policy other = Policy.of("other", algorithm, Limit.parse("5/d"));
		RateLimitRequest all = RateLimitRequest.of(
				new Charge(policy, List.of(this.users.get(0), this.users.get(1), this.users.get(2)), 2),
				Charge.of(other, this.users.get(0)));
		limiter.tryAcquire(policy, this.users.get(1));
		limiter.tryAcquire(policy, this.users.get(2), 5);
		List<String> before = ClusterKeys.content(CLUSTER, this.keyPrefix);
		Decision peeked = limiter.peek(all);
		Decision denied = limiter.tryAcquire(all);
		assertThat(denied).isEqualTo(peeked);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::identifier).containsOnly(this.users.get(2));
		Decision shadow = limiter.tryAcquire(RateLimitRequest.of(new Charge(policy, this.users, 2, true)));
		assertThat(shadow.allowed()).isTrue();
		assertThat(shadow.shadows().get("api").violated()).extracting(LimitStatus::identifier)
			.containsOnly(this.users.get(2));
		assertThat(ClusterKeys.content(CLUSTER, this.keyPrefix)).isEqualTo(before);
	}

	/** For a block, a cost that is never allowed, and a denial that leads to a block. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void countedDenialElsewhereGivesNothingBack(Algorithm algorithm) {
		RedisRateLimiter limiter = this.limiter.withClock(this.clock);
		MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d")).withCountDenied(true);
		Policy narrow = Policy.of("narrow", algorithm, Limit.parse("3/d")).withCountDenied(true);
		Policy guarded = Policy.of("guarded", new FixedWindow(), Limit.parse("0/h"))
			.withPenalty(new Penalty(1, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1), false));
		Identifier user = this.users.get(0);
		limiter.block(this.users.get(2), null, Duration.ofDays(1), "");
		memory.block(this.users.get(2), null, Duration.ofDays(1), "");
		List<RateLimitRequest> requests = List.of(RateLimitRequest.of(policy, user),
				RateLimitRequest.of(policy, user, this.users.get(2)),
				RateLimitRequest.of(Charge.of(policy, user), Charge.of(narrow, this.users.get(1)).withCost(4)),
				RateLimitRequest.of(Charge.of(policy, user), Charge.of(guarded, this.users.get(1))));
		for (int i = 0; i < 64; i++) {
			RateLimitRequest request = requests.get(i % 4);
			assertThat(limiter.tryAcquire(request)).isEqualTo(memory.tryAcquire(request));
			this.clock.advance(Duration.ofSeconds(1));
		}
	}

	@Test
	void eachNodeIsAskedOnce() {
		RateLimitRequest request = RateLimitRequest.of(
				new Charge(Policy.of("wide", new FixedWindow(), Limit.parse("9/d")), this.users, 1),
				new Charge(Policy.of("tried", new FixedWindow(), Limit.parse("9/d")), this.users, 1, true));
		this.limiter.tryAcquire(request);
		List<Long> before = calls();
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(calls()).isEqualTo(before.stream().map((calls) -> calls + 1).toList());
	}

	private static List<Long> calls() {
		return CLUSTER.nodes()
			.stream()
			.filter(Node::isMaster)
			.map((node) -> node.admin()
				.info("commandstats")
				.lines()
				.filter((line) -> line.startsWith("cmdstat_evalsha:"))
				.mapToLong((line) -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
				.sum())
			.toList();
	}

	/** The others have counted before the node that hangs goes on, whichever that is. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void allNodesAreAskedBeforeAnyAnswerIsAwaited(int which) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		try (RedisConnections other = CLUSTER.connections().timeBudget(Duration.ofMinutes(1)).build();
				UnifiedJedis ofNode = JedisClients.create(node(which).address())) {
			RedisRateLimiter witness = RedisRateLimiter.of(other, this.keyPrefix);
			witness.peek(request);
			CompletableFuture<Decision> decision;
			try (StoppedServer server = StoppedServer.stop(ofNode)) {
				decision = CompletableFuture.supplyAsync(() -> this.limiter.tryAcquire(request));
				for (Identifier user : this.users) {
					if (user != this.users.get(which)) {
						TestCluster.await("Counted for " + user,
								() -> witness.peek(RateLimitRequest.of(policy, user))
									.statuses()
									.get(0)
									.remaining() == 98);
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
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		try (RedisConnections redis = CLUSTER.connections().timeBudget(Duration.ofSeconds(1)).connections(1).build();
				UnifiedJedis ofNode = JedisClients.create(node(which).address())) {
			RateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			TestCluster.await("All nodes answer", () -> isAllowed(() -> limiter.peek(request)));
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
			List<Identifier> others = this.users.stream().filter((user) -> user != this.users.get(which)).toList();
			try (StoppedServer server = StoppedServer.stop(ofNode)) {
				// Who waits may notice it sooner than who reads.
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(request))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isIn(RedisErrorKind.NODE,
							RedisErrorKind.TIMEOUT));
				others.forEach((user) -> TestCluster.await("Cancelled for " + user, () -> used(policy, user) == 1));
				others.forEach((user) -> TestCluster.await("Allowed for " + user,
						() -> isAllowed(() -> limiter.tryAcquire(policy, user))));
			}
			TestCluster.await("The late answer is cancelled", () -> used(policy, this.users.get(which)) == 1);
			TestCluster.await("The node is asked again", () -> isAllowed(() -> limiter.tryAcquire(request)));
		}
	}

	private static boolean isAllowed(Supplier<Decision> decision) {
		try {
			return decision.get().allowed();
		}
		catch (StoreException ex) {
			return false;
		}
	}

	private long used(Policy policy, Identifier user) {
		return policy.limits().get(0).quota()
				- this.limiter.peek(RateLimitRequest.of(policy, user)).statuses().get(0).remaining();
	}

	/**
	 * What is held at the moment may deny others, but nothing is lost or admitted twice.
	 */
	@ParameterizedTest
	@MethodSource("algorithms")
	void noMoreThanTheQuotasIsAllowedOrStaysReserved(Algorithm algorithm) throws Exception {
		assertThat(SharedQuota.use(algorithm, List.of(this.limiter))).isBetween(1L, 100L);
	}

	@Test
	void manyIdentifiersAreDecidedTogether() {
		Policy policy = Policy.of("api", new SlidingLog(), Limit.parse("3/h"));
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
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("3/h"));
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
