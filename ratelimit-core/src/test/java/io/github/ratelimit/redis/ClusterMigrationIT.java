package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.JedisClusterCRC16;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ClusterMigrationIT extends RedisFixture {

	private static final int SLOT = ClusterKeys.slot(ALICE);

	private static final Identifier NEIGHBOUR = ClusterKeys.inSlot(SLOT);

	private static final Duration HOUR = Duration.ofHours(1);

	@AutoClose
	private static final TestCluster CLUSTER = TestCluster.start();

	private final List<RedisConnections> opened = new ArrayList<>();

	private Node from;

	private Node to;

	@AfterEach
	void closeAll() {
		this.opened.forEach(RedisConnections::close);
	}

	/** Knows where everything is before it moves. */
	private RedisRateLimiter limiter() {
		RedisRateLimiter limiter = RedisRateLimiter.of(connect(), this.keyPrefix);
		limiter.peek(request(policy("any", new FixedWindow(), "1/s"), 1));
		return limiter;
	}

	private RedisConnections connect() {
		this.opened.add(CLUSTER.connections().build());
		return this.opened.get(this.opened.size() - 1);
	}

	private void findNodes(int slot) {
		this.from = CLUSTER.master(slot);
		this.to = CLUSTER.otherMasters(slot).get(0);
	}

	private void whileMoving(int slot, Runnable task) {
		findNodes(slot);
		TestCluster.beginToMove(slot, this.from, this.to);
		try {
			task.run();
		}
		finally {
			CLUSTER.endMove(slot, this.from, this.to);
		}
	}

	/** Does the same when nothing has arrived, one of two Redis keys, and the other. */
	private void whileKeysMove(int slot, Runnable task) {
		whileMoving(slot, () -> {
			for (int keys = 0; keys <= 2; keys++) {
				task.run();
				TestCluster.moveKeys(slot, this.from, this.to, 1);
			}
		});
	}

	private static void assertRemaining(Decision decision, Long... remaining) {
		assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(remaining);
	}

	@EachAlgorithm
	void countsGoOnWhileTheSlotMoves(Algorithm algorithm) {
		Policy first = policy("first", algorithm, "6/3650d");
		Policy second = policy("second", algorithm, "100/3650d");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE));
		RateLimitRequest ofNeighbour = RateLimitRequest.of(Charge.of(first, NEIGHBOUR), Charge.of(second, NEIGHBOUR));
		RedisRateLimiter limiter = limiter();
		assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		whileMoving(SLOT, () -> {
			assertRemaining(limiter.tryAcquire(request), 4L, 98L);
			assertRemaining(limiter.tryAcquire(ofNeighbour), 5L, 99L);
			TestCluster.moveKeys(SLOT, this.from, this.to, 1);
			assertRemaining(limiter.tryAcquire(request), 3L, 97L);
			TestCluster.moveKeys(SLOT, this.from, this.to, 10);
			assertRemaining(limiter.tryAcquire(request), 2L, 96L);
			assertRemaining(limiter.tryAcquire(ofNeighbour), 4L, 98L);
			limiter.refund(request);
			limiter.charge(request);
			limiter.charge(request);
			limiter.charge(request);
			// 6 of 6, 6 of 100.
			List<String> before = ClusterKeys.content(CLUSTER, this.keyPrefix);
			assertThat(limiter.tryAcquire(request).violated()).extracting(LimitStatus::policy).containsExactly(first);
			assertThat(ClusterKeys.content(CLUSTER, this.keyPrefix)).isEqualTo(before);
			// With a penalty there are two Redis keys, of which the second is not there.
			limiter.reset(first.withPenalty(new Penalty(3, HOUR, HOUR, HOUR)), ALICE);
			assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		});
		assertRemaining(limiter.peek(request), 5L, 93L);
	}

	/**
	 * The slot begins to move when the cost is held, and one of its Redis keys is gone.
	 * The first policy is in shadow mode, or the second counts denied requests.
	 */
	@EachAlgorithm
	void deniedReservationIsGivenBackWhileTheSlotMoves(Algorithm algorithm) {
		for (boolean shadow : List.of(false, true)) {
			Policy first = policy("first" + shadow, algorithm, "6/3650d");
			Policy second = policy("second" + shadow, algorithm, "100/3650d").withCountDenied(!shadow);
			RedisRateLimiter limiter = limiter();
			Identifier elsewhere = ClusterKeys.of(CLUSTER, CLUSTER.otherMasters(SLOT).get(0)).findFirst().orElseThrow();
			limiter.tryAcquire(RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE)));
			limiter.tryAcquire(first, elsewhere, 6);
			RateLimitRequest request = RateLimitRequest.of(new Charge(first, List.of(ALICE, elsewhere), 1, shadow),
					Charge.of(second, ALICE));
			Decision decision = acquire(request, movingSlot(3, -1));
			assertThat(decision.allowed()).isEqualTo(shadow);
			for (Decision each : List.of(decision, limiter.peek(request))) {
				// One more of the second policy, which is allowed or counts denials.
				assertRemaining(each, shadow ? new Long[] { 98L } : new Long[] { 5L, 0L, 98L });
				if (shadow) {
					assertRemaining(each.shadows().get(first.name()), 5L, 0L);
				}
			}
			// Redis key by Redis key: the first is full, and the second counts.
			whileMoving(SLOT, () -> assertThat(limiter.tryAcquire(request).allowed()).isEqualTo(shadow));
			assertThat(remaining(limiter, second, ALICE)).containsExactly(97L);
			assertThat(remaining(limiter, first, ALICE)).containsExactly(5L);
		}
	}

	/**
	 * Nobody waits for that. The slot begins to move with the first call, which is then
	 * made one Redis key at a time, or after the cost is held.
	 */
	@EachAlgorithm
	void failedReservationIsGivenBackOnceWhileTheSlotMoves(Algorithm algorithm) {
		for (boolean held : List.of(false, true)) {
			Policy first = policy("first" + held, algorithm, "6/3650d");
			Policy second = policy("second" + held, algorithm, "100/3650d");
			RedisRateLimiter limiter = limiter();
			Identifier elsewhere = ClusterKeys.of(CLUSTER, CLUSTER.otherMasters(SLOT).get(0)).findFirst().orElseThrow();
			limiter.tryAcquire(RateLimitRequest.of(Charge.of(first, ALICE), Charge.of(second, ALICE)));
			RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE, elsewhere),
					Charge.of(second, ALICE));
			MovingSlot servers = movingSlot(held ? 3 : 1, held ? 2 : 4);
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> acquire(request, servers))
				.withMessage("It was lost");
			assertThat(servers.submitted()).allMatch((call) -> call.await(Reservations.deadline()));
			assertRemaining(limiter.peek(request), 5L, 6L, 99L);
		}
	}

	private MovingSlot movingSlot(int moving, int lost) {
		return new MovingSlot(connect().servers(), moving, lost, () -> {
			TestCluster.beginToMove(SLOT, this.from, this.to);
			TestCluster.moveKeys(SLOT, this.from, this.to, 1);
		});
	}

	/** Decides on two slots, of which that of Alice begins to move. */
	private Decision acquire(RateLimitRequest request, MovingSlot servers) {
		findNodes(SLOT);
		Scripts scripts = new Scripts(new RedisKeys(this.keyPrefix), servers, null, Composer::compose);
		try {
			return new SplitDecision(scripts, servers, request, TestRedis.PATIENCE, Reservations.deadline())
				.acquire(new SlotRequest(request, Scope.ALL).split(ClusterKeys::slot))
				.decision();
		}
		finally {
			servers.submitted().forEach((call) -> call.await(Reservations.deadline()));
			CLUSTER.endMove(SLOT, this.from, this.to);
		}
	}

	/** Denials are not counted as long as some Redis keys have moved and others not. */
	@Test
	void penalizedAreDeniedWhileTheSlotMoves() {
		Policy policy = policy(new FixedWindow(), "1/3650d").withPenalty(new Penalty(3, HOUR, HOUR, HOUR));
		RedisRateLimiter limiter = limiter();
		limiter.tryAcquire(policy, ALICE);
		limiter.tryAcquire(policy, ALICE);
		whileMoving(SLOT, () -> {
			TestCluster.moveKeys(SLOT, this.from, this.to, 1);
			for (int i = 0; i < 9; i++) {
				Decision denied = limiter.tryAcquire(policy, ALICE);
				assertThat(denied.allowed()).isFalse();
				assertThat(denied.blockedFor()).isNull();
			}
		});
		limiter.tryAcquire(policy, ALICE);
		assertThat(limiter.tryAcquire(policy, ALICE).blockedFor()).isEqualTo(HOUR);
		assertThat(limiter.blocks()).hasSize(1);
	}

	@Test
	void blocksHoldWhileTheSlotMoves() {
		Policy policy = policy(new SlidingLog(true), "100/3650d");
		RedisRateLimiter limiter = limiter();
		limiter.tryAcquire(policy, ALICE);
		limiter.block(ALICE, null, HOUR, "scraping");
		whileKeysMove(SLOT, () -> {
			assertThat(limiter.tryAcquire(policy, ALICE).blockedFor()).isBetween(Duration.ofMinutes(59), HOUR);
			assertThat(limiter.peek(request(policy, 1)).allowed()).isFalse();
			assertThat(limiter.entries(policy, ALICE)).hasSize(1);
			limiter.block(ALICE, "api", Duration.ofHours(2), "");
			assertThat(limiter.tryAcquire(policy, ALICE).blockedFor()).isGreaterThan(Duration.ofMinutes(119));
			assertThat(limiter.unblock(ALICE, "api")).isTrue();
		});
		assertThat(limiter.unblock(ALICE, null)).isTrue();
		assertRemaining(limiter.tryAcquire(policy, ALICE), 98L);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void listOfBlocksIsWholeWhileItsSlotMoves(boolean emptied) {
		RedisRateLimiter limiter = limiter();
		int slot = JedisClusterCRC16.getSlot(this.keys.blockEnds());
		Identifier beside = ClusterKeys.inSlot(slot);
		limiter.block(ALICE, null, HOUR, "again");
		whileKeysMove(slot, () -> {
			assertThat(limiter.blocks()).extracting(Block::reason).containsExactly("again");
			Block second = limiter.block(beside, "api", Duration.ofHours(3), "second");
			assertThat(limiter.blocks()).hasSize(2).endsWith(second);
			Block first = limiter.block(ALICE, null, Duration.ofHours(2), "again");
			assertThat(limiter.blocks()).containsExactly(first, second);
			assertThat(limiter.unblock(beside, "api")).isTrue();
			assertThat(limiter.unblock(beside, "api")).isFalse();
			if (emptied) {
				assertThat(limiter.unblock(ALICE, null)).isTrue();
				assertThat(limiter.blocks()).isEmpty();
				limiter.block(ALICE, null, HOUR, "again");
			}
		});
		assertThat(limiter.blocks()).extracting(Block::reason).containsExactly("again");
		assertThat(List.of(this.keys.blockEnds(), this.keys.blockDescriptions())).extracting(this.to.admin()::pttl)
			.allSatisfy((left) -> assertThat(left).isBetween(Duration.ofMinutes(59).toMillis(), 3 * HOUR.toMillis()));
		limiter.unblock(ALICE, null);
		assertThat(ClusterKeys.content(CLUSTER, this.keyPrefix)).isEmpty();
	}

	@Test
	void countsAreReadAndResetWhileTheSlotMoves() {
		Policy policy = policy(new FixedWindow(2, ZoneOffset.UTC), "100/365d");
		RedisRateLimiter limiter = limiter();
		limiter.tryAcquire(policy, ALICE);
		limiter.block(ALICE, "other", HOUR, "");
		whileKeysMove(SLOT, () -> {
			assertThat(limiter.series(policy, ALICE)).extracting(WindowCount::count).containsExactly(1L);
			limiter.reset(policy, ALICE);
			assertThat(limiter.series(policy, ALICE)).isEmpty();
			limiter.tryAcquire(policy, ALICE);
		});
		assertThat(limiter.series(policy, ALICE)).extracting(WindowCount::count).containsExactly(1L);
	}

	/** To another node and back again, and again, key by key. */
	@Test
	void exactlyTheQuotasAreAllowedWhileSlotsMove() {
		int quota = 2000;
		Policy policy = policy(new SlidingLog(), quota + "/3650d");
		List<RedisRateLimiter> limiters = List.of(limiter(), limiter());
		AtomicInteger moves = new AtomicInteger();
		Map<Identifier, LongAdder> allowed = Map.of(ALICE, new LongAdder(), NEIGHBOUR, new LongAdder());
		List<CompletableFuture<Void>> load = IntStream.range(0, 4)
			.mapToObj((thread) -> CompletableFuture.runAsync(() -> {
				for (int attempt = 0; attempt < quota || moves.get() < 4; attempt++) {
					Identifier user = (attempt % 2 == 0) ? ALICE : NEIGHBOUR;
					if (limiters.get(thread % 2).tryAcquire(policy, user, 2).allowed()) {
						allowed.get(user).add(2);
					}
				}
			}, (task) -> new Thread(task, "load").start()))
			.toList();
		try {
			while (!load.stream().allMatch(Future::isDone)) {
				whileMoving(SLOT, () -> TestCluster.moveKeys(SLOT, this.from, this.to, 1));
				moves.incrementAndGet();
			}
		}
		finally {
			moves.set(4);
		}
		load.forEach(CompletableFuture::join);
		assertThat(allowed.values()).extracting(LongAdder::intValue).containsOnly(quota);
		assertRemaining(limiters.get(0).peek(RateLimitRequest.of(policy, ALICE, NEIGHBOUR)), 0L, 0L);
	}

}
