package io.github.ratelimit.redis;

import redis.clients.jedis.util.JedisClusterCRC16;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.redis.script.Scope;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Slots that move to other nodes, while and after they do.
 */
class ClusterMigrationIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int SLOT = ClusterKeys.slot(ALICE);

	/** Shares the slot of Alice. */
	private static final Identifier NEIGHBOUR = IntStream.iterate(0, (i) -> i + 1)
		.mapToObj((i) -> Identifier.user("neighbour" + i))
		.filter((user) -> ClusterKeys.slot(user) == SLOT)
		.findFirst()
		.orElseThrow();

	private static TestCluster cluster;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final List<AutoCloseable> opened = new ArrayList<>();

	private Node from;

	private Node to;

	@BeforeAll
	static void start() {
		cluster = TestCluster.start();
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	/** Knows where everything is before it moves. */
	private RedisRateLimiter limiter() {
		RedisRateLimiter limiter = RedisRateLimiter.of(connect(), this.keyPrefix);
		limiter.peek(RateLimitRequest.of(Policy.of("any", new FixedWindow(), Limit.parse("1/s")), ALICE));
		this.from = cluster.master(SLOT);
		this.to = cluster.otherMasters(SLOT).get(0);
		return limiter;
	}

	private RedisConnections connect() {
		RedisConnections redis = cluster.connections().build();
		this.opened.add(redis);
		return redis;
	}

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	/** Nothing has arrived, then one of two Redis keys, then the other. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void countsGoOnWhileTheSlotMoves(Algorithm algorithm) {
		Policy first = new Policy("first", algorithm, List.of(new Limit(6, Limit.MAX_WINDOW)));
		Policy second = new Policy("second", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE));
		RateLimitRequest ofNeighbour = RateLimitRequest.of(Charge.of(first, NEIGHBOUR), Charge.of(second, NEIGHBOUR));
		RedisRateLimiter limiter = limiter();
		assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		TestCluster.beginToMove(SLOT, this.from, this.to);
		try {
			assertCounts(limiter, request, 2);
			assertCounts(limiter, ofNeighbour, 1);
			TestCluster.moveKeys(SLOT, this.from, this.to, 1);
			assertCounts(limiter, request, 3);
			TestCluster.moveKeys(SLOT, this.from, this.to, 10);
			assertCounts(limiter, request, 4);
			assertCounts(limiter, ofNeighbour, 2);
			limiter.refund(request);
			limiter.charge(request);
			limiter.charge(request);
			limiter.charge(request);
			// 6 of 6, 6 of 100.
			List<String> before = ClusterKeys.content(cluster, this.keyPrefix);
			assertThat(limiter.tryAcquire(request).violated()).extracting((status) -> status.policy().name())
				.containsExactly("first");
			assertThat(ClusterKeys.content(cluster, this.keyPrefix)).isEqualTo(before);
			// With a penalty there are two Redis keys, of which the second is not there.
			limiter.reset(
					first.withPenalty(
							new Penalty(3, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1))),
					ALICE);
			assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
		assertThat(limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsExactly(5L, 93L);
	}

	private static void assertCounts(RedisRateLimiter limiter, RateLimitRequest request, long used) {
		assertThat(limiter.tryAcquire(request).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(6 - used, 100 - used);
	}

	/**
	 * The slot begins to move when the cost is held, and one of its Redis keys is gone.
	 */
	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedReservationIsGivenBackWhileTheSlotMoves(Algorithm algorithm) {
		Policy first = new Policy("first", algorithm, List.of(new Limit(6, Limit.MAX_WINDOW)));
		Policy second = new Policy("second", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)))
			.withCountDenied(true);
		RedisRateLimiter limiter = limiter();
		Identifier elsewhere = ClusterKeys.of(cluster, this.to).findFirst().orElseThrow();
		limiter.tryAcquire(RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE)));
		limiter.tryAcquire(first, elsewhere, 6);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE, elsewhere), Charge.of(second, ALICE));
		Decision decision;
		try {
			decision = acquire(request, false);
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
		assertThat(decision.allowed()).isFalse();
		// One more of the second policy, which counts denied requests.
		assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(5L, 0L, 98L);
		assertThat(decision.statuses()).extracting(LimitStatus::policy).containsExactly(first, first, second);
		assertThat(limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsExactly(5L, 0L, 98L);
	}

	/** As above, in shadow mode: the request itself is allowed. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedShadowReservationIsGivenBackWhileTheSlotMoves(Algorithm algorithm) {
		Policy first = new Policy("first", algorithm, List.of(new Limit(6, Limit.MAX_WINDOW)));
		Policy second = new Policy("second", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)));
		RedisRateLimiter limiter = limiter();
		Identifier elsewhere = ClusterKeys.of(cluster, this.to).findFirst().orElseThrow();
		limiter.tryAcquire(RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE)));
		limiter.tryAcquire(first, elsewhere, 6);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE, elsewhere).inShadow(),
				Charge.of(second, ALICE));
		Decision decision;
		try {
			decision = acquire(request, false);
			TestCluster.moveKeys(SLOT, this.from, this.to, 10);
			// Redis key by Redis key: the first is full, and the second counts.
			assertThat(limiter
				.tryAcquire(RateLimitRequest.of(Charge.of(first, ALICE, elsewhere).inShadow(),
						Charge.of(second, ALICE).withCost(2)))
				.allowed()).isTrue();
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(98L);
		assertThat(decision.shadows().get("first").statuses()).extracting(LimitStatus::remaining)
			.containsExactly(5L, 0L);
		assertThat(limiter.peek(request).shadows().get("first").statuses()).extracting(LimitStatus::remaining)
			.containsExactly(5L, 0L);
		assertThat(limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsExactly(96L);
	}

	/** Nobody waits for that. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void failedReservationIsGivenBackWhileTheSlotMoves(Algorithm algorithm) {
		Policy first = new Policy("first", algorithm, List.of(new Limit(6, Limit.MAX_WINDOW)));
		Policy second = new Policy("second", algorithm, List.of(new Limit(100, Limit.MAX_WINDOW)));
		RedisRateLimiter limiter = limiter();
		Identifier elsewhere = ClusterKeys.of(cluster, this.to).findFirst().orElseThrow();
		limiter.tryAcquire(RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE)));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE, elsewhere), Charge.of(second, ALICE));
		try {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> acquire(request, true))
				.withMessage("It was lost");
			TestCluster.await("It is given back",
					() -> limiter.peek(request)
						.statuses()
						.stream()
						.map(LimitStatus::remaining)
						.toList()
						.equals(List.of(5L, 6L, 99L)));
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
	}

	/**
	 * Decides on two slots. That of Alice begins to move before anything is given back.
	 * @param second whether the second of the two calls fails
	 */
	private Decision acquire(RateLimitRequest request, boolean second) {
		Servers servers = new BeforeThird(connect().servers(), second, () -> {
			TestCluster.beginToMove(SLOT, this.from, this.to);
			TestCluster.moveKeys(SLOT, this.from, this.to, 1);
		});
		Scripts scripts = new Scripts(new RedisKeys(this.keyPrefix), servers, null, Composer::compose);
		return new SplitDecision(scripts, servers, request, TestRedis.PATIENCE,
				System.nanoTime() + TestRedis.PATIENCE.toNanos())
			.acquire(new SlotRequest(request, Scope.ALL).split(ClusterKeys::slot))
			.decision();
	}

	/**
	 * Denials are not counted as long as some Redis keys have moved and others have not.
	 */
	@Test
	void penalizedAreDeniedWhileTheSlotMoves() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/3650d"))
			.withPenalty(new Penalty(3, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2)));
		RedisRateLimiter limiter = limiter();
		limiter.tryAcquire(policy, ALICE);
		limiter.tryAcquire(policy, ALICE);
		TestCluster.beginToMove(SLOT, this.from, this.to);
		try {
			TestCluster.moveKeys(SLOT, this.from, this.to, 1);
			for (int i = 0; i < 9; i++) {
				Decision denied = limiter.tryAcquire(policy, ALICE);
				assertThat(denied.allowed()).isFalse();
				assertThat(denied.blockedFor()).isNull();
			}
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
		limiter.tryAcquire(policy, ALICE);
		assertThat(limiter.tryAcquire(policy, ALICE).blockedFor()).isEqualTo(Duration.ofHours(1));
		assertThat(limiter.blocks()).hasSize(1);
	}

	@Test
	void blocksHoldWhileTheSlotMoves() {
		Policy policy = Policy.of("api", new SlidingLog(true), Limit.parse("100/h"));
		RedisRateLimiter limiter = limiter();
		limiter.tryAcquire(policy, ALICE);
		limiter.block(ALICE, null, Duration.ofHours(1), "scraping");
		TestCluster.beginToMove(SLOT, this.from, this.to);
		try {
			for (int keys = 0; keys <= 2; keys++) {
				assertThat(limiter.tryAcquire(policy, ALICE).blockedFor()).isBetween(Duration.ofMinutes(59),
						Duration.ofHours(1));
				assertThat(limiter.peek(RateLimitRequest.of(policy, ALICE)).allowed()).isFalse();
				assertThat(limiter.entries(policy, ALICE)).hasSize(1);
				TestCluster.moveKeys(SLOT, this.from, this.to, 1);
			}
			limiter.block(ALICE, "api", Duration.ofHours(2), "");
			assertThat(limiter.unblock(ALICE, null)).isTrue();
			assertThat(limiter.tryAcquire(policy, ALICE).blockedFor()).isGreaterThan(Duration.ofMinutes(119));
			assertThat(limiter.unblock(ALICE, "api")).isTrue();
			assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
		assertThat(limiter.peek(RateLimitRequest.of(policy, ALICE)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(98L);
	}

	/** Nothing has arrived, then one of its two Redis keys, then the other. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void listOfBlocksIsWholeWhileItsSlotMoves(boolean emptied) {
		RedisRateLimiter limiter = limiter();
		int slot = JedisClusterCRC16.getSlot(new KeyNames(this.keyPrefix).blockEnds());
		Identifier beside = Stream.iterate(0, (i) -> i + 1)
			.map((i) -> Identifier.user("beside" + i))
			.filter((user) -> ClusterKeys.slot(user) == slot)
			.findFirst()
			.orElseThrow();
		this.from = cluster.master(slot);
		this.to = cluster.otherMasters(slot).get(0);
		Block first = limiter.block(ALICE, null, Duration.ofHours(1), "first");
		TestCluster.beginToMove(slot, this.from, this.to);
		try {
			for (int keys = 0; keys <= 2; keys++) {
				assertThat(limiter.blocks()).containsExactly(first);
				Block second = limiter.block(beside, "api", Duration.ofHours(3), "second");
				assertThat(limiter.blocks()).containsExactly(first, second);
				first = limiter.block(ALICE, null, Duration.ofHours(2), "again");
				assertThat(limiter.blocks()).containsExactly(first, second);
				assertThat(limiter.unblock(beside, "api")).isTrue();
				assertThat(limiter.unblock(beside, "api")).isFalse();
				if (emptied) {
					assertThat(limiter.blocks()).containsExactly(first);
					assertThat(limiter.unblock(ALICE, null)).isTrue();
					assertThat(limiter.blocks()).isEmpty();
					first = limiter.block(ALICE, null, Duration.ofHours(1), "first");
				}
				TestCluster.moveKeys(slot, this.from, this.to, 1);
			}
		}
		finally {
			cluster.endMove(slot, this.from, this.to);
		}
		assertThat(limiter.blocks()).containsExactly(first);
		KeyNames keys = new KeyNames(this.keyPrefix);
		for (String key : List.of(keys.blockEnds(), keys.blockDescriptions())) {
			assertThat(this.to.admin().pttl(key)).isBetween(Duration.ofMinutes(59).toMillis(),
					Duration.ofHours(3).toMillis());
		}
		limiter.unblock(ALICE, null);
		assertThat(ClusterKeys.content(cluster, this.keyPrefix)).isEmpty();
	}

	@Test
	void countsAreReadAndResetWhileTheSlotMoves() {
		Policy policy = Policy.of("api", new FixedWindow(2, ZoneOffset.UTC), Limit.parse("100/365d"));
		RedisRateLimiter limiter = limiter();
		limiter.tryAcquire(policy, ALICE);
		limiter.block(ALICE, "other", Duration.ofHours(1), "");
		TestCluster.beginToMove(SLOT, this.from, this.to);
		try {
			for (int keys = 0; keys <= 2; keys++) {
				assertThat(limiter.series(policy, ALICE)).extracting(WindowCount::count).containsExactly(1L);
				limiter.reset(policy, ALICE);
				assertThat(limiter.series(policy, ALICE)).isEmpty();
				limiter.tryAcquire(policy, ALICE);
				TestCluster.moveKeys(SLOT, this.from, this.to, 1);
			}
		}
		finally {
			cluster.endMove(SLOT, this.from, this.to);
		}
		assertThat(limiter.series(policy, ALICE)).extracting(WindowCount::count).containsExactly(1L);
	}

	/** To another node and back again, and again, key by key. */
	@Test
	void exactlyTheQuotasAreAllowedWhileSlotsMove() throws Exception {
		int quota = 2000;
		Policy policy = new Policy("api", new SlidingLog(), List.of(new Limit(quota, Limit.MAX_WINDOW)));
		List<RedisRateLimiter> limiters = List.of(limiter(), limiter());
		AtomicInteger moves = new AtomicInteger();
		Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<Future<?>> load = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				RedisRateLimiter limiter = limiters.get(i % 2);
				load.add(threads.submit(() -> {
					for (int attempt = 0; attempt < quota || moves.get() < 4; attempt++) {
						Identifier user = (attempt % 2 == 0) ? ALICE : NEIGHBOUR;
						if (limiter.tryAcquire(policy, user, 2).allowed()) {
							allowed.computeIfAbsent(user, (key) -> new LongAdder()).add(2);
						}
					}
				}));
			}
			while (!load.stream().allMatch(Future::isDone)) {
				move();
				moves.incrementAndGet();
			}
			for (Future<?> each : load) {
				each.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(allowed.get(ALICE).sum()).isEqualTo(quota);
		assertThat(allowed.get(NEIGHBOUR).sum()).isEqualTo(quota);
		assertThat(limiters.get(0).peek(RateLimitRequest.of(policy, ALICE, NEIGHBOUR)).statuses())
			.extracting(LimitStatus::remaining)
			.containsOnly(0L);
	}

	private static void move() {
		Node from = cluster.master(SLOT);
		Node to = cluster.otherMasters(SLOT).get(0);
		TestCluster.beginToMove(SLOT, from, to);
		TestCluster.moveKeys(SLOT, from, to, 1);
		cluster.endMove(SLOT, from, to);
	}

	/** Two calls hold, of which the second one may fail, and the third one cancels. */
	private static final class BeforeThird implements Servers {

		private final Servers servers;

		private final boolean failing;

		private final Runnable task;

		private int calls;

		BeforeThird(Servers servers, boolean failing, Runnable task) {
			this.servers = servers;
			this.failing = failing;
			this.task = task;
		}

		@Override
		public int slot(byte[] key) {
			return this.servers.slot(key);
		}

		@Override
		public void submit(Call call) {
			this.calls++;
			if (this.calls == 3) {
				this.task.run();
			}
			if (this.calls == 2 && this.failing) {
				call.fail(new JedisException("It was lost"));
			}
			else {
				this.servers.submit(call);
			}
		}

		@Override
		public void close() {
			this.servers.close();
		}

	}

}
