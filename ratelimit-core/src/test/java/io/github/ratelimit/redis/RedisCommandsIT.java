package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a request costs the server: which commands it executes, and when scripts are
 * loaded again that it has forgotten, because it was restarted or somebody flushed them.
 */
class RedisCommandsIT extends RedisFixture {

	private static final Logger logger = LoggerFactory.getLogger(RedisCommandsIT.class);

	private static final Policy MANY = policy(new SlidingLog(), "1000/3650d");

	private static final Policy POLICY = policy(new SlidingLog(), "10/3650d", "5/365d", "3/100d");

	private static final Policy LOGIN = policy("login", new FixedWindow(), "1/3650d")
		.withPenalty(new Penalty(3, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2)));

	private static final Policy TOTAL = policy("total", new FixedWindow(), "7/3650d");

	@RegisterExtension
	private final RedisMonitor monitor = new RedisMonitor(this.keyPrefix);

	/** Each call, what has been used before it, and which commands it is. */
	static Stream<Arguments> calls() {
		RateLimitRequest both = RateLimitRequest.of(POLICY, ALICE, ADDRESS);
		RateLimitRequest two = RateLimitRequest.of(Charge.of(POLICY, ALICE, ADDRESS),
				Charge.of(TOTAL, Identifier.GLOBAL));
		RateLimitRequest costly = RateLimitRequest.of(Charge.of(TOTAL, Identifier.GLOBAL),
				Charge.of(POLICY, ALICE).withCost(2));
		RateLimitRequest shadow = RateLimitRequest.of(Charge.of(TOTAL, Identifier.GLOBAL).inShadow(),
				Charge.of(POLICY, ALICE));
		return Stream.of(
				call("several limits and identifiers", 0, "EVALSHA TIME MGET SET SET",
						(limiter) -> limiter.tryAcquire(both)),
				call("several policies and algorithms", 0, "EVALSHA TIME MGET SET SET SET",
						(limiter) -> limiter.tryAcquire(two)),
				call("a penalty", 0, "EVALSHA TIME MGET SET", (limiter) -> limiter.tryAcquire(LOGIN, ALICE)),
				call("beside a shadow", 0, "EVALSHA TIME MGET SET SET", (limiter) -> limiter.tryAcquire(shadow)),
				call("denied beside a shadow", 3, "EVALSHA TIME MGET", (limiter) -> limiter.tryAcquire(shadow)),
				call("denied in shadow", 0, "EVALSHA TIME MGET",
						(limiter) -> limiter.tryAcquire(
								RateLimitRequest.of(Charge.of(TOTAL, Identifier.GLOBAL).withCost(9).inShadow()))),
				call("denied", 2, "EVALSHA TIME MGET", (limiter) -> limiter.tryAcquire(costly)),
				call("never allowed", 0, "EVALSHA TIME MGET", (limiter) -> limiter.tryAcquire(POLICY, ALICE, 4)),
				call("peek", 1, "EVALSHA TIME MGET", (limiter) -> limiter.peek(request(POLICY, 1))),
				call("cost of 0", 1, "EVALSHA TIME MGET", (limiter) -> limiter.tryAcquire(POLICY, ALICE, 0)),
				call("refund of a part", 2, "EVALSHA TIME MGET SET", (limiter) -> limiter.refund(both)),
				call("refund of all", 1, "EVALSHA TIME MGET DEL", (limiter) -> limiter.refund(both)),
				call("history", 1, "EVALSHA TIME MGET", (limiter) -> limiter.entries(POLICY, ALICE)),
				call("reset", 0, "DEL", (limiter) -> limiter.reset(POLICY, ALICE)));
	}

	private static Arguments call(String name, int used, String commands, Consumer<RedisRateLimiter> call) {
		return Arguments.of(Named.of(name, call), used, commands);
	}

	@ParameterizedTest
	@MethodSource("calls")
	void callIsOneRoundTripWithoutNeedlessWrites(Consumer<RedisRateLimiter> call, long used, String commands)
			throws InterruptedException {
		// With other Redis keys, so that the scripts are known.
		RedisRateLimiter other = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix());
		other.tryAcquire(POLICY, ALICE, used);
		call.accept(other);
		this.limiter.tryAcquire(POLICY, ALICE, used);
		this.monitor.commands();
		call.accept(this.limiter);
		assertCommands(commands);
	}

	private void assertCommands(String commands) throws InterruptedException {
		assertThat(this.monitor.commands()).containsExactly(commands.replace(" ", "| ").split("\\|"));
	}

	@Test
	void blocksAreReadInTheSameCall() throws InterruptedException {
		this.limiter.block(ADDRESS, null, Duration.ofHours(1), "");
		this.limiter.unblock(ADDRESS, null);
		this.limiter.blocks();
		this.limiter.tryAcquire(POLICY, ADDRESS);
		this.monitor.commands();
		this.limiter.block(ALICE, null, Duration.ofHours(1), "scraping");
		assertCommands("EVALSHA TIME MGET SET PEXPIREAT TYPE ZADD ZRANGEBYSCORE ZRANGE PEXPIREAT TYPE HSET PEXPIREAT");
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isFalse();
		assertCommands("EVALSHA TIME MGET");
		assertThat(this.limiter.blocks()).hasSize(1);
		assertCommands("EVALSHA TIME TYPE HVALS");
		this.limiter.unblock(ALICE, null);
		assertCommands("EVALSHA TIME MGET DEL TYPE ZRANGEBYSCORE ZRANGE ZREM TYPE HDEL");
	}

	@Test
	void forgottenScriptIsLoadedAgainByWhateverComesNext() {
		for (long remaining = 999; remaining >= 994; remaining--) {
			this.jedis.scriptFlush();
			assertThat(this.limiter.tryAcquire(MANY, ALICE).statuses()).extracting(LimitStatus::remaining)
				.containsExactly(remaining);
			this.jedis.scriptFlush();
			assertThat(remaining(this.limiter, MANY, ALICE)).containsExactly(remaining);
		}
		this.jedis.scriptFlush();
		this.limiter.refund(request(MANY, 1));
		assertThat(remaining(this.limiter, MANY, ALICE)).containsExactly(995L);
	}

	@Test
	void scriptsForgottenUnderLoadLoseAndDoubleNothing() throws Exception {
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger flushes = new AtomicInteger();
		LongAdder allowed = new LongAdder();
		CompletableFuture<Void> flusher = CompletableFuture.runAsync(() -> {
			while (!done.get()) {
				this.jedis.scriptFlush();
				flushes.incrementAndGet();
			}
		});
		try {
			Threads.run(4, 300,
					(thread, attempt) -> allowed.add(this.limiter.tryAcquire(MANY, ALICE).allowed() ? 1 : 0));
		}
		finally {
			done.set(true);
		}
		flusher.join();
		assertThat(allowed.sum()).isEqualTo(1000);
		assertThat(flushes).hasPositiveValue();
		assertThat(remaining(this.limiter, MANY, ALICE)).containsExactly(0L);
	}

	/** Recent servers forget scripts that came by EVAL when there are many. */
	@Test
	void scriptIsLoadedToStayWhenItWasForgotten() {
		try (OwnRedis server = new OwnRedis(); RedisConnections redis = server.connect("")) {
			UnifiedJedis jedis = server.jedis();
			RateLimiter limiter = RedisRateLimiter.of(redis);
			acquire(limiter, 20);
			assertThat(calls(jedis, "eval")).isEqualTo(20);
			assertThat(calls(jedis, "script")).isZero();
			jedis.scriptFlush();
			acquire(limiter, 20);
			assertThat(calls(jedis, "script")).as("loaded, and flushed once").isEqualTo(20 + 1);
			long evals = calls(jedis, "eval");
			acquire(limiter, 20);
			assertThat(calls(jedis, "eval")).isEqualTo(evals);
			assertThat(calls(jedis, "evalsha")).isEqualTo(3 * 20);
			assertThat(jedis.keys("*")).hasSize(20);
		}
	}

	@Test
	void sourceIsSentAgainWhereLoadingIsForbidden() {
		try (OwnRedis server = new OwnRedis("user app on >secret ~* +@all -script");
				RedisConnections redis = server.connect("app:secret@")) {
			UnifiedJedis jedis = server.jedis();
			RateLimiter limiter = RedisRateLimiter.of(redis);
			for (int used = 1; used <= 4; used++) {
				jedis.scriptFlush();
				assertThat(limiter.tryAcquire(policy(1), ALICE).statuses()).extracting(LimitStatus::remaining)
					.containsExactly(1000L - used);
			}
		}
	}

	/** More scripts than recent servers keep of those that came by EVAL. */
	@Test
	void knownScriptsOfManyWindowsNeedFewBytes() {
		try (OwnRedis server = new OwnRedis(); RedisConnections redis = server.connect("")) {
			UnifiedJedis jedis = server.jedis();
			RateLimiter limiter = RedisRateLimiter.of(redis);
			acquire(limiter, 600);
			acquire(limiter, 600);
			long before = sum(jedis.info("stats"), "total_net_input_bytes:(\\d+)");
			acquire(limiter, 600);
			long each = (sum(jedis.info("stats"), "total_net_input_bytes:(\\d+)") - before) / 600;
			logger.info("{} bytes a decision", each);
			assertThat(each).isLessThan(1024);
		}
	}

	private static void acquire(RateLimiter limiter, int windows) {
		for (int i = 1; i <= windows; i++) {
			assertThat(limiter.tryAcquire(policy(i), ALICE).allowed()).isTrue();
		}
	}

	private static Policy policy(int window) {
		return Policy.of("window-" + window, new FixedWindow(), new Limit(1000, Duration.ofDays(window)));
	}

	/** Subcommands have a line of their own on recent servers. */
	private static long calls(UnifiedJedis jedis, String command) {
		return sum(jedis.info("commandstats"), "cmdstat_" + command + "[:|].*?calls=(\\d+),");
	}

}
