package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that has forgotten the scripts, because it was restarted or somebody flushed
 * them.
 */
class ScriptLoadingIT {

	private static final Logger logger = LoggerFactory.getLogger(ScriptLoadingIT.class);

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int THREADS = 4;

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix());

	@Test
	void forgottenScriptIsLoadedAgainByWhateverComesNext() {
		Policy policy = Policy.of("api", new SlidingLog(), new Limit(10, Limit.MAX_WINDOW));
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		for (long remaining = 9; remaining >= 4; remaining--) {
			TestRedis.client().scriptFlush();
			assertThat(this.limiter.tryAcquire(request).statuses()).extracting(LimitStatus::remaining)
				.containsExactly(remaining);
			TestRedis.client().scriptFlush();
			assertThat(this.limiter.peek(request).statuses()).extracting(LimitStatus::remaining)
				.containsExactly(remaining);
		}
		TestRedis.client().scriptFlush();
		this.limiter.refund(request);
		assertThat(this.limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsExactly(5L);
	}

	@Test
	void scriptsForgottenUnderLoadLoseAndDoubleNothing() throws Exception {
		Policy policy = Policy.of("api", new SlidingLog(), new Limit(1000, Limit.MAX_WINDOW));
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger flushes = new AtomicInteger();
		LongAdder allowed = new LongAdder();
		CompletableFuture<Void> flusher = CompletableFuture.runAsync(() -> {
			while (!done.get()) {
				TestRedis.client().scriptFlush();
				flushes.incrementAndGet();
			}
		});
		try {
			Threads.run(THREADS, 300,
					(thread, attempt) -> allowed.add(this.limiter.tryAcquire(policy, ALICE).allowed() ? 1 : 0));
		}
		finally {
			done.set(true);
		}
		flusher.join();
		assertThat(allowed.sum()).isEqualTo(1000);
		assertThat(flushes).hasPositiveValue();
		assertThat(this.limiter.peek(RateLimitRequest.of(policy, ALICE)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(0L);
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
			long before = bytes(jedis);
			acquire(limiter, 600);
			long each = (bytes(jedis) - before) / 600;
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
		return jedis.info("commandstats")
			.lines()
			.filter((line) -> line.matches("cmdstat_" + command + "[:|].*"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll(".*?calls=(\\d+),.*", "$1")))
			.sum();
	}

	private static long bytes(UnifiedJedis jedis) {
		return jedis.info("stats")
			.lines()
			.filter((line) -> line.startsWith("total_net_input_bytes:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
			.sum();
	}

}
