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
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Identifiers that are hashed with a secret: Redis, and who looks into it, does not learn
 * them.
 */
class HashedIdentifiersIT extends RedisFixture {

	private static final String SECRET = "the-secret";

	private final RedisRateLimiter hashing = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix, SECRET);

	@RegisterExtension
	private final RedisMonitor monitor = new RedisMonitor(this.keyPrefix);

	@Test
	void scriptsShowNothing() throws InterruptedException {
		Policy log = policy("log", new SlidingLog(true), "9/d");
		Policy windows = policy("windows", new FixedWindow(2, ZoneOffset.UTC), "9/d");
		Algorithms.all().forEach((algorithm) -> use(this.hashing, policy(algorithm.name(), algorithm, "9/d")));
		this.hashing.tryAcquire(RateLimitRequest.of(Charge.of(log, ADDRESS), Charge.of(windows, ADDRESS)));
		assertThat(this.hashing.entries(log, ADDRESS)).hasSize(1);
		assertThat(this.hashing.series(windows, ADDRESS)).hasSize(1);
		this.hashing.block(ADDRESS, null, Duration.ofHours(1), "scraping");
		this.hashing.block(ADDRESS, "log", Duration.ofHours(1), "scraping");
		assertThat(this.hashing.tryAcquire(log, ADDRESS).blockedFor()).isNotNull();
		assertThat(this.hashing.blocks()).hasSize(2)
			.extracting(Block::identifier)
			.containsOnly(RedisRateLimiter.hashed(ADDRESS, SECRET));
		assertNothingShows();
		assertThat(this.hashing.unblock(ADDRESS, "log")).isTrue();
		this.hashing.reset(log, ADDRESS);
		assertThat(this.hashing.entries(log, ADDRESS)).isEmpty();
		assertNothingShows();
	}

	@Test
	void penaltyIsReportedAsItIsListed() {
		List<Block> made = new ArrayList<>();
		RedisRateLimiter listening = this.hashing.withPenaltyListener((block, shadow) -> made.add(block));
		listening.countDenials(
				List.of(Charge.of(
						policy("login", new FixedWindow(), "1/d")
							.withPenalty(new Penalty(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1))),
						ADDRESS)));
		assertThat(made).extracting(Block::identifier).containsExactly(RedisRateLimiter.hashed(ADDRESS, SECRET));
		assertThat(listening.blocks()).isEqualTo(made);
		assertThat(listening.unblock(ADDRESS, "login")).isTrue();
	}

	@Test
	void plainCommandsShowNothing() throws InterruptedException {
		RateLimiter plain = PipelineRateLimiter.of(TestRedis.connections(), this.keyPrefix, SECRET);
		PipelineContract.algorithms().forEach((algorithm) -> use(plain, policy(algorithm.name(), algorithm, "9/d")));
		assertNothingShows();
	}

	@Test
	void otherSecretIsAnotherCount() {
		Policy policy = policy(new FixedWindow(), "9/3650d");
		this.hashing.tryAcquire(policy, ADDRESS, 5);
		this.hashing.block(ADDRESS, "other", Duration.ofHours(1), "");
		assertThat(remaining(RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix, SECRET), policy, ADDRESS))
			.containsExactly(4L);
		for (RateLimiter other : List.of(RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix, "another"),
				this.limiter)) {
			assertThat(remaining(other, policy, ADDRESS)).containsExactly(9L);
			assertThat(((BlockList) other).unblock(ADDRESS, "other")).isFalse();
		}
	}

	private static void use(RateLimiter limiter, Policy policy) {
		RateLimitRequest request = RateLimitRequest.of(policy, ADDRESS, Identifier.user(ADDRESS.value()))
			.withMetadata("request");
		assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(limiter.peek(request).statuses()).extracting((status) -> status.remaining()).containsOnly(8L);
		limiter.charge(request);
		limiter.refund(request);
		assertThat(limiter.tryAcquire(policy, ADDRESS, 9).allowed()).isFalse();
	}

	private void assertNothingShows() throws InterruptedException {
		List<String> seen = new ArrayList<>();
		this.monitor.executed().forEach((command) -> seen.addAll(command.words()));
		for (String key : keys()) {
			seen.add(key);
			content(key).forEach(seen::add);
		}
		assertThat(seen).hasSizeGreaterThan(20)
			.noneMatch((text) -> text.contains(ADDRESS.value()) || text.contains(SECRET) || text.contains("203%2E"));
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
