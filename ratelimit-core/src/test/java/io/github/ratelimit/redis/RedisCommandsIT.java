package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a request costs the server: which commands it executes.
 */
class RedisCommandsIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final Policy POLICY = Policy.of("api", new SlidingLog(), Limit.parse("10/3650d"),
			Limit.parse("5/365d"), Limit.parse("3/100d"));

	private static final Policy LOGIN = Policy.of("login", new FixedWindow(), Limit.parse("1/3650d"))
		.withPenalty(new Penalty(3, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2)));

	private static final Policy TOTAL = Policy.of("total", new FixedWindow(), Limit.parse("7/3650d"));

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	private RedisMonitor monitor;

	@BeforeEach
	void startMonitor() throws InterruptedException {
		this.monitor = RedisMonitor.start(this.keyPrefix);
	}

	@AfterEach
	void stopMonitor() {
		this.monitor.close();
	}

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
				call("peek", 1, "EVALSHA TIME MGET", (limiter) -> limiter.peek(RateLimitRequest.of(POLICY, ALICE))),
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
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " SET", " PEXPIREAT", " TYPE",
				" ZADD", " ZRANGEBYSCORE", " ZRANGE", " PEXPIREAT", " TYPE", " HSET", " PEXPIREAT");
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isFalse();
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET");
		assertThat(this.limiter.blocks()).hasSize(1);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " TYPE", " HVALS");
		this.limiter.unblock(ALICE, null);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " DEL", " TYPE",
				" ZRANGEBYSCORE", " ZRANGE", " ZREM", " TYPE", " HDEL");
	}

}
