package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.RedisMonitor.Executed;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Scripts touch only the Redis keys that they are given, as a cluster demands: others
 * might be on another node. A single server does not care, so that it is looked at what
 * it executes.
 */
class ScriptKeysIT extends RedisFixture {

	private final Reservations reservations = new Reservations(TestRedis.connections(), this.keyPrefix, this.clock);

	@RegisterExtension
	private final RedisMonitor monitor = new RedisMonitor(this.keyPrefix);

	@EachAlgorithm
	void requestsTouchNothingElse(Algorithm algorithm) throws InterruptedException {
		Policy policy = policy(algorithm, "3/d", "5/30d");
		RateLimitRequest request = RateLimitRequest
			.of(Charge.of(policy, ALICE, ADDRESS), Charge.of(strict(algorithm), ALICE),
					Charge.of(policy("penalized", algorithm, "3/d", "5/30d").withPenalty(penalty(2)), ADDRESS, ALICE))
			.withMetadata("abc");
		for (RedisRateLimiter each : List.of(this.limiter, this.clocked)) {
			for (int i = 0; i < 5; i++) {
				each.tryAcquire(request);
			}
			each.peek(request);
			each.charge(request);
			each.refund(request);
		}
		this.clock.advance(Duration.ofDays(1));
		this.clocked.tryAcquire(request);
		this.clock.advance(Duration.ofHours(-7));
		this.clocked.tryAcquire(request);
		this.jedis.del(key(policy));
		this.jedis.lpush(key(policy), "of another type");
		this.clocked.tryAcquire(request);
		assertThat(undeclared()).isEmpty();
	}

	@EachAlgorithm
	void callsOnOneOfSeveralSlotsTouchNothingElse(Algorithm algorithm) throws InterruptedException {
		Policy policy = policy(algorithm, "3/d", "5/30d");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS),
				Charge.of(strict(algorithm).withPenalty(penalty(1)), ALICE));
		for (Scope scope : Scope.values()) {
			for (Operation operation : Operation.values()) {
				if (operation == Operation.CANCEL) {
					long held = ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant());
					this.reservations.cancel(request, scope, held);
				}
				else if (operation != Operation.HISTORY && (scope != Scope.BLOCKS || isDecision(operation))) {
					this.reservations.ask(operation, scope, request);
				}
			}
		}
		assertThat(undeclared()).isEmpty();
	}

	private static Policy strict(Algorithm algorithm) {
		return policy("strict", algorithm, "3/d", "5/30d").withCountDenied(true);
	}

	private static Penalty penalty(int after) {
		return new Penalty(after, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2));
	}

	private static boolean isDecision(Operation operation) {
		return operation != Operation.REFUND && operation != Operation.CHARGE;
	}

	@Test
	void largeLogsTouchNothingElse() throws InterruptedException {
		Policy large = policy("large", new SlidingLog(), "100000/365d");
		RateLimitRequest request = request(large, 1);
		for (int i = 0; i < 1600; i++) {
			this.clocked.tryAcquire(request);
		}
		// It is not large yet.
		this.monitor.executed();
		for (int i = 0; i < 100; i++) {
			this.clocked.tryAcquire(request);
		}
		this.clocked.charge(request);
		this.clocked.refund(request);
		this.clocked.entries(large, ALICE);
		assertThat(undeclared()).isEmpty();
	}

	@Test
	void blocksAndHistoryTouchNothingElse() throws InterruptedException {
		Policy windows = policy("windows", new FixedWindow(3, ZoneOffset.UTC), "3/d");
		this.limiter.tryAcquire(windows, ALICE);
		this.limiter.series(windows, ALICE);
		this.limiter.block(ALICE, null, Duration.ofHours(1), "reason");
		this.limiter.block(ALICE, "windows", Duration.ofHours(1), "reason");
		this.limiter.tryAcquire(windows, ALICE);
		this.limiter.blocks();
		this.limiter.unblock(ALICE, null);
		this.limiter.unblock(ALICE, "windows");
		assertThat(undeclared()).isEmpty();
	}

	@Test
	void keyThatWasNotGivenIsFound() throws InterruptedException {
		String given = this.keyPrefix + ":given";
		this.jedis.eval("redis.call('SET', KEYS[1] .. 'x', 1) redis.call('GET', KEYS[1])", List.of(given), List.of());
		assertThat(undeclared()).containsExactly(given + "x");
	}

	/** Redis keys that scripts have touched since the last call, and were not given. */
	private Set<String> undeclared() throws InterruptedException {
		Set<String> undeclared = new LinkedHashSet<>();
		List<String> given = List.of();
		int touched = 0;
		try (Jedis jedis = new Jedis(TestRedis.uri())) {
			for (Executed command : this.monitor.executed()) {
				List<String> keys = keysOf(jedis, command.words());
				if (command.script()) {
					touched += keys.size();
					List<String> others = new ArrayList<>(keys);
					others.removeAll(given);
					undeclared.addAll(others);
				}
				else {
					given = keys;
				}
			}
		}
		assertThat(touched).isPositive();
		return undeclared;
	}

	/**
	 * As the server itself knows them; Redis 7.0 does not want to be asked about a word.
	 */
	private static List<String> keysOf(Jedis jedis, List<String> words) {
		if (words.size() == 1) {
			return List.of();
		}
		try {
			return jedis.commandGetKeys(words.toArray(String[]::new));
		}
		catch (JedisDataException ex) {
			assertThat(ex).hasMessageContaining("no key arguments");
			return List.of();
		}
	}

}
