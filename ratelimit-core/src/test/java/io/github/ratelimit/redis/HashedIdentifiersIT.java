package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Identifiers that are hashed with a secret: Redis, and who looks into it, does not learn
 * them.
 */
class HashedIdentifiersIT {

	private static final String VALUE = "203.0.113.7";

	private static final Identifier ADDRESS = Identifier.ip(VALUE);

	private static final String SECRET = "the-secret";

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix, SECRET);

	@Test
	void scriptsShowNothing() throws InterruptedException {
		Policy log = Policy.of("log", new SlidingLog(true), Limit.parse("9/d"));
		Policy windows = Policy.of("windows", new FixedWindow(2, ZoneOffset.UTC), Limit.parse("9/d"));
		try (RedisMonitor monitor = RedisMonitor.start(this.keyPrefix)) {
			Algorithms.all()
				.forEach((algorithm) -> use(this.limiter, Policy.of(algorithm.name(), algorithm, Limit.parse("9/d"))));
			this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(log, ADDRESS), Charge.of(windows, ADDRESS)));
			assertThat(this.limiter.entries(log, ADDRESS)).hasSize(1);
			assertThat(this.limiter.series(windows, ADDRESS)).hasSize(1);
			this.limiter.block(ADDRESS, null, Duration.ofHours(1), "scraping");
			this.limiter.block(ADDRESS, "log", Duration.ofHours(1), "scraping");
			assertThat(this.limiter.tryAcquire(log, ADDRESS).blockedFor()).isNotNull();
			assertThat(this.limiter.blocks()).hasSize(2)
				.allSatisfy((block) -> assertThat(block.identifier().value()).doesNotContain(VALUE))
				.allSatisfy(
						(block) -> assertThat(block.identifier()).isEqualTo(RedisRateLimiter.hashed(ADDRESS, SECRET)));
			assertNothingShows(monitor);
			assertThat(this.limiter.unblock(ADDRESS, "log")).isTrue();
			this.limiter.reset(log, ADDRESS);
			assertThat(this.limiter.entries(log, ADDRESS)).isEmpty();
			assertNothingShows(monitor);
		}
	}

	@Test
	void penaltyIsReportedAsItIsListed() {
		List<Block> made = new ArrayList<>();
		RedisRateLimiter listening = this.limiter.withPenaltyListener((block, shadow) -> made.add(block));
		listening.countDenials(List.of(Charge.of(
				Policy.of("login", new FixedWindow(), Limit.parse("1/d"))
					.withPenalty(new Penalty(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1))),
				ADDRESS)));
		assertThat(made).extracting(Block::identifier).containsExactly(RedisRateLimiter.hashed(ADDRESS, SECRET));
		assertThat(listening.blocks()).isEqualTo(made);
		assertThat(listening.unblock(ADDRESS, "login")).isTrue();
	}

	@Test
	void plainCommandsShowNothing() throws InterruptedException {
		RateLimiter plain = PipelineRateLimiter.of(TestRedis.connections(), this.keyPrefix, SECRET);
		try (RedisMonitor monitor = RedisMonitor.start(this.keyPrefix)) {
			PipelineRateLimiterIT.algorithms()
				.forEach((algorithm) -> use(plain, Policy.of(algorithm.name(), algorithm, Limit.parse("9/d"))));
			assertNothingShows(monitor);
		}
	}

	@Test
	void otherSecretIsAnotherCount() {
		Policy policy = Policy.of("api", new FixedWindow(), new Limit(9, Limit.MAX_WINDOW));
		this.limiter.tryAcquire(policy, ADDRESS, 5);
		this.limiter.block(ADDRESS, "other", Duration.ofHours(1), "");
		RateLimiter same = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix, SECRET);
		assertThat(same.tryAcquire(policy, ADDRESS).statuses().get(0).remaining()).isEqualTo(3);
		for (RateLimiter other : List.of(RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix, "another"),
				RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix))) {
			assertThat(other.tryAcquire(policy, ADDRESS).statuses().get(0).remaining()).isEqualTo(8);
			assertThat(((BlockList) other).unblock(ADDRESS, "other")).isFalse();
		}
	}

	private static void use(RateLimiter limiter, Policy policy) {
		RateLimitRequest request = RateLimitRequest.of(policy, ADDRESS, Identifier.user(VALUE)).withMetadata("request");
		assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(limiter.peek(request).statuses()).extracting((status) -> status.remaining()).containsOnly(8L);
		limiter.charge(request);
		limiter.refund(request);
		assertThat(limiter.tryAcquire(policy, ADDRESS, 9).allowed()).isFalse();
	}

	private void assertNothingShows(RedisMonitor monitor) throws InterruptedException {
		List<String> seen = new ArrayList<>();
		monitor.executed().forEach((command) -> seen.addAll(command.words()));
		for (String key : this.jedis.keys(this.keyPrefix + ":*")) {
			seen.add(key);
			content(key).forEach(seen::add);
		}
		assertThat(seen).hasSizeGreaterThan(20)
			.noneMatch((text) -> text.contains(VALUE) || text.contains(SECRET) || text.contains("203%2E"));
	}

	private Stream<String> content(String key) {
		return switch (this.jedis.type(key)) {
			case "hash" -> this.jedis.hgetAll(key).entrySet().stream().map(Object::toString);
			case "zset" -> this.jedis.zrange(key, 0, -1).stream();
			default -> Stream
				.of(new String(this.jedis.get(key.getBytes(StandardCharsets.US_ASCII)), StandardCharsets.ISO_8859_1));
		};
	}

}
