package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a request costs the server: which commands it executes.
 */
class RedisCommandsIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	private final Policy policy = Policy.of("api", new SlidingLog(), Limit.parse("10/3650d"), Limit.parse("5/365d"),
			Limit.parse("3/100d"));

	private final Policy total = Policy.of("total", new FixedWindow(), Limit.parse("7/3650d"));

	private RedisMonitor monitor;

	@BeforeEach
	void startMonitor() throws InterruptedException {
		loadScripts();
		this.monitor = RedisMonitor.start(this.keyPrefix);
	}

	/** Of all forms of requests in the tests, for others than theirs. */
	private void loadScripts() {
		RedisRateLimiter history = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);
		Identifier other = Identifier.user("loads");
		Identifier another = Identifier.user("loads too");
		Identifier third = Identifier.user("loads as well");
		RateLimitRequest one = RateLimitRequest.of(this.policy, other);
		RateLimitRequest two = RateLimitRequest.of(this.policy, other, another);
		this.limiter.tryAcquire(one);
		this.limiter.tryAcquire(two);
		this.limiter
			.tryAcquire(RateLimitRequest.of(Charge.of(this.policy, other, another), Charge.of(this.total, third)));
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(this.total, another), Charge.of(this.policy, other)));
		RateLimitRequest shadow = RateLimitRequest.of(Charge.of(this.total, another).inShadow());
		this.limiter.tryAcquire(shadow);
		this.limiter.tryAcquire(RateLimitRequest.of(shadow.charges().get(0), Charge.of(this.policy, other)));
		this.limiter.peek(one);
		this.limiter.refund(two);
		history.entries(this.policy, other);
		this.limiter.reset(this.policy, other);
		this.limiter.reset(this.policy, another);
		this.limiter.reset(this.total, another);
		this.limiter.reset(this.total, third);
	}

	@AfterEach
	void stopMonitor() {
		this.monitor.close();
	}

	@Test
	void requestWithSeveralLimitsAndIdentifiersIsOneCall() throws InterruptedException {
		this.limiter.tryAcquire(RateLimitRequest.of(this.policy, ALICE, ADDRESS));
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " SET", " SET");
	}

	@Test
	void requestWithSeveralPoliciesAndAlgorithmsIsOneCall() throws InterruptedException {
		this.limiter.tryAcquire(
				RateLimitRequest.of(Charge.of(this.policy, ALICE, ADDRESS), Charge.of(this.total, Identifier.GLOBAL)));
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " SET", " SET", " SET");
	}

	@Test
	void policiesInShadowModeAreDecidedInTheSameCall() throws InterruptedException {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(this.total, Identifier.GLOBAL).withCost(2).inShadow(),
				Charge.of(this.policy, ALICE).withCost(1));
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		}
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " SET", " SET", "EVALSHA",
				" TIME", " MGET", " SET", " SET", "EVALSHA", " TIME", " MGET", " SET", " SET", "EVALSHA", " TIME",
				" MGET");
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(request.charges().get(0))).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(request.charges().get(0).withCost(9))).allowed())
			.isTrue();
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", "EVALSHA", " TIME", " MGET");
	}

	@Test
	void deniedRequestWritesNothing() throws InterruptedException {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(this.total, Identifier.GLOBAL),
				Charge.of(this.policy, ALICE).withCost(2));
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		this.monitor.commands();
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET");
	}

	@Test
	void requestThatIsNeverAllowedWritesNothing() throws InterruptedException {
		this.limiter.tryAcquire(this.policy, ALICE, 4);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET");
	}

	@Test
	void peekAndCostOfZeroWriteNothing() throws InterruptedException {
		this.limiter.tryAcquire(this.policy, ALICE);
		this.monitor.commands();
		this.limiter.peek(RateLimitRequest.of(this.policy, ALICE));
		this.limiter.tryAcquire(this.policy, ALICE, 0);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", "EVALSHA", " TIME", " MGET");
	}

	@Test
	void refundIsOneCall() throws InterruptedException {
		this.limiter.tryAcquire(this.policy, ALICE, 2);
		this.monitor.commands();
		RateLimitRequest request = RateLimitRequest.of(this.policy, ALICE, ADDRESS);
		this.limiter.refund(request);
		this.limiter.refund(request);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " SET", "EVALSHA", " TIME",
				" MGET", " DEL");
	}

	@Test
	void blocksAreReadInTheSameCallAndNothingIsScanned() throws InterruptedException {
		RedisRateLimiter blocks = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);
		blocks.block(ADDRESS, null, Duration.ofHours(1), "");
		blocks.unblock(ADDRESS, null);
		blocks.blocks();
		this.monitor.commands();
		blocks.block(ALICE, null, Duration.ofHours(1), "scraping");
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " SET", " PEXPIREAT", " TYPE",
				" ZADD", " ZRANGEBYSCORE", " ZRANGE", " PEXPIREAT", " TYPE", " HSET", " PEXPIREAT");
		assertThat(blocks.tryAcquire(this.policy, ALICE).allowed()).isFalse();
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET");
		assertThat(blocks.blocks()).hasSize(1);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " TYPE", " HVALS");
		blocks.unblock(ALICE, null);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET", " DEL", " TYPE",
				" ZRANGEBYSCORE", " ZRANGE", " ZREM", " TYPE", " HDEL");
	}

	@Test
	void historyIsOneCallThatWritesNothing() throws InterruptedException {
		RedisRateLimiter history = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);
		history.tryAcquire(this.policy, ALICE);
		this.monitor.commands();
		assertThat(history.entries(this.policy, ALICE)).hasSize(1);
		assertThat(this.monitor.commands()).containsExactly("EVALSHA", " TIME", " MGET");
	}

	@Test
	void resetIsOneCall() throws InterruptedException {
		this.limiter.reset(this.policy, ALICE);
		assertThat(this.monitor.commands()).isEqualTo(List.of("DEL"));
	}

	@Test
	void textOfAScriptIsSentOnlyOnce() throws InterruptedException {
		TestRedis.client().scriptFlush();
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(this.total, ALICE).allowed()).isTrue();
		}
		assertThat(this.monitor.commands()).filteredOn((command) -> !command.startsWith(" "))
			.containsExactly("EVALSHA", "EVAL", "EVALSHA", "EVALSHA");
		RateLimiter other = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);
		assertThat(other.tryAcquire(this.total, ALICE).statuses().get(0).remaining()).isEqualTo(3);
		assertThat(this.monitor.commands()).startsWith("EVALSHA").doesNotContain("EVAL");
	}

}
