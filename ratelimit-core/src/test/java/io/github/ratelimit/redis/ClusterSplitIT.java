package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.NeedsJedis72;
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
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Requests whose identifiers lie on different nodes of a cluster.
 */
@SuppressWarnings("try")
@NeedsJedis72
class ClusterSplitIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final int THREADS = 16;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final TimeBudget budget = budget(Duration.ofSeconds(10));

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.budget.client(), this.keyPrefix);

	/** One on each node. */
	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	private static TimeBudget budget(Duration duration) {
		return budget(duration, new ConnectionPoolConfig());
	}

	private static TimeBudget budget(Duration duration, ConnectionPoolConfig pool) {
		return TimeBudget.ofCluster(duration, CLUSTER.addresses(), DefaultJedisClientConfig.builder().build(), pool);
	}

	@AfterEach
	void close() {
		this.budget.client().close();
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
		assertThat(ClusterKeys.content(CLUSTER, this.keyPrefix)).isEqualTo(before);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void statusesStandInTheOrderOfTheRequest(Algorithm algorithm) {
		Policy first = Policy.of("first", algorithm, Limit.parse("5/d"), Limit.parse("9/30d"));
		Policy second = Policy.of("second", algorithm, Limit.parse("7/d"));
		RateLimitRequest request = RateLimitRequest.of(
				Charge.of(first, this.users.get(2), this.users.get(0), this.users.get(1)),
				Charge.of(second, this.users.get(1), this.users.get(2)));
		assertThat(this.limiter.tryAcquire(request).statuses()).extracting(
				(status) -> status.policy().name() + " " + status.identifier().value() + " " + status.limit().quota())
			.containsExactly("first " + this.users.get(2).value() + " 5", "first " + this.users.get(2).value() + " 9",
					"first " + this.users.get(0).value() + " 5", "first " + this.users.get(0).value() + " 9",
					"first " + this.users.get(1).value() + " 5", "first " + this.users.get(1).value() + " 9",
					"second " + this.users.get(1).value() + " 7", "second " + this.users.get(2).value() + " 7");
	}

	/** The others have counted before the node that hangs goes on, whichever that is. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void allNodesAreAskedBeforeAnyAnswerIsAwaited(int which) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		TimeBudget other = budget(Duration.ofMinutes(1));
		try (UnifiedJedis jedis = other.client(); UnifiedJedis ofNode = JedisClients.create(node(which).address())) {
			RedisRateLimiter witness = RedisRateLimiter.of(jedis, this.keyPrefix);
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

	/** A connection that is not returned would be missed: there is one to each node. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void decisionEndsWhenOneNodeHangs(int which) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(1);
		TimeBudget shortBudget = budget(Duration.ofMillis(500), pool);
		try (UnifiedJedis jedis = shortBudget.client();
				UnifiedJedis ofNode = JedisClients.create(node(which).address())) {
			RateLimiter limiter = shortBudget.limit(RedisRateLimiter.of(jedis, this.keyPrefix));
			assertThat(limiter.tryAcquire(request).allowed()).isTrue();
			List<Identifier> others = this.users.stream().filter((user) -> user != this.users.get(which)).toList();
			long start = System.nanoTime();
			try (StoppedServer server = StoppedServer.stop(ofNode)) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(request))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.NODE));
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
				// 2, if the moment that is left for taking back was not enough.
				assertThat(others).allSatisfy((user) -> assertThat(used(policy, user)).isBetween(1L, 2L));
				others.forEach((user) -> assertThat(limiter.tryAcquire(policy, user).allowed()).isTrue());
			}
			assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		}
	}

	@Test
	void nothingIsSentWhenANodeCannotBeReached() {
		// Not asked by the threads that connect: the connection of the test is for one.
		HostAndPort unreachable = CLUSTER.master(ClusterKeys.slot(this.users.get(2))).address();
		TimeBudget mapped = TimeBudget.ofCluster(Duration.ofSeconds(10), CLUSTER.addresses(),
				DefaultJedisClientConfig.builder()
					.hostAndPortMapper((node) -> node.equals(unreachable) ? new HostAndPort("127.0.0.1", 1) : node)
					.build(),
				new ConnectionPoolConfig());
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));
		try (UnifiedJedis jedis = mapped.client()) {
			RateLimiter limiter = RedisRateLimiter.of(jedis, this.keyPrefix);
			assertThat(limiter.tryAcquire(policy, this.users.get(0)).allowed()).isTrue();
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(
						() -> limiter.tryAcquire(RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new))))
				.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.NODE));
		}
		assertThat(used(policy, this.users.get(0))).isEqualTo(1);
		assertThat(used(policy, this.users.get(1))).isZero();
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
	void noMoreThanTheQuotasAreAllowedAndNothingStaysHeld(Algorithm algorithm) throws Exception {
		Policy each = new Policy("each", algorithm, List.of(new Limit(40, Limit.MAX_WINDOW)));
		Policy total = new Policy("total", algorithm, List.of(new Limit(301, Limit.MAX_WINDOW)));
		Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
		fromAllThreads((attempt) -> {
			Identifier user = Identifier.user("user" + attempt % 10);
			if (this.limiter
				.tryAcquire(RateLimitRequest.of(Charge.of(each, user).withCost(2),
						Charge.of(total, Identifier.GLOBAL).withCost(3)))
				.allowed()) {
				allowed.computeIfAbsent(user, (key) -> new LongAdder()).increment();
			}
		}, 50);
		long sum = allowed.values().stream().mapToLong(LongAdder::sum).sum();
		assertThat(sum).isBetween(1L, 100L);
		assertThat(used(total, Identifier.GLOBAL)).isEqualTo(3 * sum);
		allowed.forEach((user, count) -> assertThat(used(each, user)).isEqualTo(2 * count.sum()));
	}

	private void fromAllThreads(IntConsumer task, int attempts) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Callable<Void>> callables = IntStream.range(0, THREADS).mapToObj((thread) -> (Callable<Void>) () -> {
				IntStream.range(0, attempts).forEach(task);
				return null;
			}).toList();
			for (Future<Void> result : executor.invokeAll(callables)) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
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

	@Test
	void forgottenScriptsAreLoadedAgainOnEveryNode() {
		Policy policy = Policy.of("api", new SlidingLog(), Limit.parse("100/h"));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		for (int i = 0; i < 3; i++) {
			this.limiter.tryAcquire(request);
			CLUSTER.master(ClusterKeys.slot(this.users.get(i))).admin().scriptFlush();
		}
		CLUSTER.nodes().forEach((node) -> node.admin().scriptFlush());
		this.limiter.tryAcquire(request);
		this.users.forEach((user) -> assertThat(used(policy, user)).isEqualTo(4));
	}

	static Stream<UnifiedJedis> clients() {
		return Stream.of(RedisClusterClient.builder().nodes(CLUSTER.addresses()).build(), jedisCluster());
	}

	@SuppressWarnings("deprecation")
	private static UnifiedJedis jedisCluster() {
		return new JedisCluster(CLUSTER.addresses());
	}

	@ParameterizedTest
	@MethodSource("clients")
	void clientsOfJedisCanBeUsed(UnifiedJedis jedis) {
		Policy policy = Policy.of("api", new SlidingLog(), Limit.parse("3/h"));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		try (jedis) {
			RedisRateLimiter limiter = RedisRateLimiter.of(jedis, this.keyPrefix);
			for (int i = 0; i < 3; i++) {
				assertThat(limiter.tryAcquire(request).allowed()).isTrue();
			}
			assertThat(limiter.tryAcquire(request).allowed()).isFalse();
			limiter.reset(policy, this.users.get(1));
			assertThat(limiter.peek(request).violated()).extracting(LimitStatus::identifier)
				.containsExactly(this.users.get(0), this.users.get(2));
			limiter.block(this.users.get(1), null, Duration.ofMinutes(1), "reason");
			assertThat(limiter.blocks()).hasSize(1);
			assertThat(limiter.unblock(this.users.get(1), null)).isTrue();
		}
	}

	static Stream<Function<UnifiedJedis, RateLimiter>> stores() {
		return Stream.of(RedisRateLimiter::of);
	}

	/**
	 * Those of Jedis wait without an end unless they are told otherwise. Whether that is
	 * taken for a failure of the node depends on whether another one has answered.
	 */
	@ParameterizedTest
	@MethodSource("stores")
	void connectionOfTheClientIsNotWaitedForWithoutAnEnd(Function<UnifiedJedis, RateLimiter> store) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("3/h"));
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(1);
		try (RedisClusterClient jedis = RedisClusterClient.builder()
			.nodes(CLUSTER.addresses())
			.poolConfig(pool)
			.build()) {
			RateLimiter limiter = store.apply(jedis);
			// Knows which node it has to ask.
			limiter.peek(RateLimitRequest.of(policy, this.users.get(0)));
			HostAndPort node = CLUSTER.master(ClusterKeys.slot(this.users.get(0))).address();
			try (Connection ofAnother = jedis.getClusterNodes().get(node.toString()).getResource()) {
				assertThat(ofAnother.isConnected()).isTrue();
				assertTimeoutPreemptively(Duration.ofSeconds(30),
						() -> assertThatExceptionOfType(StoreException.class)
							.isThrownBy(() -> limiter.peek(RateLimitRequest.of(policy, this.users.get(0))))
							.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isIn(RedisErrorKind.POOL_EXHAUSTED,
									RedisErrorKind.NODE)));
			}
			assertThat(limiter.peek(RateLimitRequest.of(policy, this.users.get(0))).allowed()).isTrue();
		}
	}

	@Test
	void clientThatLooksForANodeIsNotWaitedForWithoutAnEnd() {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(1);
		String key = new RedisKeys(this.keyPrefix).blocks(this.users.get(0));
		HostAndPort node = CLUSTER.master(Slots.slot(key)).address();
		try (RedisClusterClient jedis = RedisClusterClient.builder()
			.nodes(CLUSTER.addresses())
			.poolConfig(pool)
			.build(); Connection ofAnother = jedis.getClusterNodes().get(node.toString()).getResource()) {
			assertThat(ofAnother.isConnected()).isTrue();
			ClientNodes unknown = new ClientNodes(jedis, Map::of);
			assertTimeoutPreemptively(Duration.ofSeconds(30),
					() -> assertThatExceptionOfType(JedisException.class).isThrownBy(() -> unknown.connect(node, key))
						.satisfies((ex) -> assertThat(RedisErrorKind.of(new StoreException("", ex)))
							.isEqualTo(RedisErrorKind.TIMEOUT)));
		}
	}

	@Test
	void connectionsOfAllNodesAreClosedWithTheClient() {
		Policy policy = Policy.of("api", new SlidingLog(), Limit.parse("3/h"));
		List<Long> before = clients(CLUSTER);
		TimeBudget other = budget(Duration.ofSeconds(10));
		try (UnifiedJedis jedis = other.client()) {
			RedisRateLimiter.of(jedis, this.keyPrefix)
				.tryAcquire(RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new)));
			assertThat(clients(CLUSTER)).isNotEqualTo(before);
		}
		TestCluster.await("Connections are closed", () -> clients(CLUSTER).equals(before));
	}

	private static List<Long> clients(TestCluster cluster) {
		List<Long> clients = new ArrayList<>();
		cluster.nodes()
			.forEach((node) -> clients
				.add(node.admin().clientList().lines().filter((line) -> line.contains(" flags=N ")).count()));
		return clients;
	}

}
