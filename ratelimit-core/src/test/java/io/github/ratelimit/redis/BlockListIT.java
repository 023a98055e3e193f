package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the list of blocks says is what holds, and how long it is in Redis.
 */
class BlockListIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("100000/3650d"));

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final long DAY = 86_400_000;

	private static final long HOUR = 3_600_000;

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	private final KeyNames keys = new KeyNames(this.keyPrefix);

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");

	private final RedisRateLimiter clocked = this.limiter.withClock(this.clock);

	@Test
	void listAgreesAfterBlockAndUnblockAtOnce() {
		for (int i = 0; i < 300; i++) {
			Identifier identifier = Identifier.user("user" + i);
			CompletableFuture<?> block = CompletableFuture
				.runAsync(() -> this.limiter.block(identifier, null, Duration.ofHours(1), ""));
			this.limiter.unblock(identifier, null);
			block.join();
			boolean holds = !this.limiter.tryAcquire(POLICY, identifier).allowed();
			assertThat(this.limiter.blocks()).extracting(Block::identifier)
				.satisfies((listed) -> assertThat(listed.contains(identifier)).isEqualTo(holds));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ends", "descriptions" })
	void listOfAnotherTypeIsReplaced(String key) {
		this.jedis.set(this.keyPrefix + ":{~blocks}:" + key, "text");
		assertThat(this.limiter.blocks()).isEmpty();
		Block block = this.limiter.block(ALICE, null, Duration.ofHours(1), "scraping");
		assertThat(this.limiter.blocks()).containsExactly(block);
		assertThat(this.limiter.unblock(ALICE, null)).isTrue();
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isTrue();
	}

	@Test
	void blockOfAnotherTypeIsReplaced() {
		this.jedis.lpush(this.keyPrefix + ":{user:alice}:~blocks", "text");
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isTrue();
		this.limiter.block(ALICE, null, Duration.ofHours(1), "scraping");
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isFalse();
	}

	@Test
	void keysExpireWithTheLastBlockToEnd() {
		for (RedisRateLimiter blocks : new RedisRateLimiter[] { this.limiter, this.clocked }) {
			blocks.block(ALICE, null, Duration.ofDays(1), "long");
			blocks.block(ALICE, "api", Duration.ofHours(1), "short");
			blocks.block(ADDRESS, null, Duration.ofHours(2), "other");
			assertThat(this.jedis.pttl(this.keys.blocks(ALICE))).isBetween(DAY - HOUR, DAY + 2);
			assertThat(this.jedis.pttl(this.keys.blocks(ADDRESS))).isBetween(HOUR, 2 * HOUR + 2);
			assertThat(this.jedis.pttl(this.keys.blockEnds())).isBetween(DAY - HOUR, DAY + 2);
			assertThat(this.jedis.pttl(this.keys.blockDescriptions())).isBetween(DAY - HOUR, DAY + 2);
			assertThat(blocks.unblock(ALICE, null)).isTrue();
			assertThat(this.jedis.pttl(this.keys.blocks(ALICE))).isBetween(1L, HOUR + 2);
			assertThat(this.jedis.pttl(this.keys.blockEnds())).isBetween(HOUR, 2 * HOUR + 2);
			assertThat(this.jedis.pttl(this.keys.blockDescriptions())).isBetween(HOUR, 2 * HOUR + 2);
			assertThat(blocks.unblock(ALICE, "api")).isTrue();
			assertThat(blocks.unblock(ADDRESS, null)).isTrue();
			assertThat(this.jedis.keys(this.keyPrefix + "*")).isEmpty();
		}
	}

	@Test
	void keysExpireNoMicrosecondBeforeTheBlockEnds() {
		for (int i = 0; i < 20; i++) {
			long end = TestRedis.millisAfter(this.limiter.block(ALICE, null, Duration.ofHours(1), "scraping").until());
			assertThat(TestRedis.expiry(this.keys.blocks(ALICE))).isEqualTo(end);
			assertThat(TestRedis.expiry(this.keys.blockEnds())).isEqualTo(end);
			assertThat(TestRedis.expiry(this.keys.blockDescriptions())).isEqualTo(end);
		}
	}

	@Test
	void blocksThatEndedAreTidiedUp() {
		this.clocked.block(ALICE, null, Duration.ofSeconds(1), "one");
		this.clocked.block(ADDRESS, null, Duration.ofSeconds(2), "two");
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.clocked.unblock(ALICE, null)).isFalse();
		this.clocked.block(ALICE, "api", Duration.ofSeconds(5), "three");
		assertThat(this.jedis.strlen(this.keys.blocks(ALICE))).isEqualTo(9 + "api".length());
		assertThat(this.jedis.zcard(this.keys.blockEnds())).isEqualTo(2);
		assertThat(this.jedis.hlen(this.keys.blockDescriptions())).isEqualTo(2);
		this.clock.advance(Duration.ofSeconds(1));
		this.clocked.block(ALICE, "web", Duration.ofSeconds(1), "four");
		assertThat(this.jedis.zcard(this.keys.blockEnds())).isEqualTo(2);
		assertThat(this.jedis.hlen(this.keys.blockDescriptions())).isEqualTo(2);
	}

}
