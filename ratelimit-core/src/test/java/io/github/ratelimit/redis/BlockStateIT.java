package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What blocks and penalties write and read in Redis, and that what the list of blocks
 * says is what holds.
 */
class BlockStateIT extends RedisFixture {

	private static final Policy POLICY = policy(new FixedWindow(), "100000/3650d");

	private static final Duration BLOCK = Duration.ofMinutes(15);

	private static final Policy LOGIN = policy("login", new FixedWindow(), "1/3650d")
		.withPenalty(new Penalty(3, Duration.ofMinutes(10), BLOCK, Duration.ofHours(2)));

	private static final Duration DAY = Duration.ofDays(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private final String denials = this.keyPrefix + ":{user:alice}:login:~denials";

	private void assertLives(String key, Duration least, Duration most) {
		assertThat(this.jedis.pttl(key)).isBetween(least.toMillis() + 1, most.toMillis() + 2);
	}

	@Test
	void listAgreesAfterBlockAndUnblockAtOnce() {
		for (int i = 0; i < 300; i++) {
			Identifier identifier = Identifier.user("user" + i);
			CompletableFuture<?> block = CompletableFuture
				.runAsync(() -> this.limiter.block(identifier, null, HOUR, ""));
			this.limiter.unblock(identifier, null);
			block.join();
			boolean holds = !this.limiter.tryAcquire(POLICY, identifier).allowed();
			assertThat(this.limiter.blocks()).extracting(Block::identifier)
				.satisfies((listed) -> assertThat(listed.contains(identifier)).isEqualTo(holds));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "{~blocks}:ends", "{~blocks}:descriptions", "{user:alice}:~blocks" })
	void keyOfAnotherTypeIsReplaced(String key) {
		this.jedis.rpush(this.keyPrefix + ":" + key, "text");
		assertThat(this.limiter.blocks()).isEmpty();
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isTrue();
		Block block = this.limiter.block(ALICE, null, HOUR, "scraping");
		assertThat(this.limiter.blocks()).containsExactly(block);
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isFalse();
		assertThat(this.limiter.unblock(ALICE, null)).isTrue();
		assertThat(this.limiter.tryAcquire(POLICY, ALICE).allowed()).isTrue();
	}

	@Test
	void keysExpireWithTheLastBlockToEnd() {
		for (RedisRateLimiter blocks : List.of(this.limiter, this.clocked)) {
			blocks.block(ALICE, null, DAY, "long");
			blocks.block(ALICE, "api", HOUR, "short");
			blocks.block(ADDRESS, null, HOUR.multipliedBy(2), "other");
			for (String key : List.of(this.keys.blocks(ALICE), this.keys.blockEnds(), this.keys.blockDescriptions())) {
				assertLives(key, DAY.minus(HOUR), DAY);
			}
			assertLives(this.keys.blocks(ADDRESS), HOUR, HOUR.multipliedBy(2));
			assertThat(blocks.unblock(ALICE, null)).isTrue();
			assertLives(this.keys.blocks(ALICE), Duration.ZERO, HOUR);
			assertLives(this.keys.blockEnds(), HOUR, HOUR.multipliedBy(2));
			assertLives(this.keys.blockDescriptions(), HOUR, HOUR.multipliedBy(2));
			assertThat(blocks.unblock(ALICE, "api")).isTrue();
			assertThat(blocks.unblock(ADDRESS, null)).isTrue();
			assertThat(keys()).isEmpty();
		}
	}

	@Test
	void keysExpireNoMicrosecondBeforeTheBlockEnds() {
		for (int i = 0; i < 20; i++) {
			long end = TestRedis.millisAfter(this.limiter.block(ALICE, null, HOUR, "scraping").until());
			assertThat(List.of(this.keys.blocks(ALICE), this.keys.blockEnds(), this.keys.blockDescriptions()))
				.allSatisfy((key) -> assertThat(TestRedis.expiry(key)).isEqualTo(end));
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

	@Test
	void keysOfPenaltiesLiveAsLongAsTheyMatter() {
		deny(this.limiter, 2);
		assertLives(this.denials, Duration.ofMinutes(9), Duration.ofMinutes(10));
		Block block = deny(this.limiter, 1);
		long end = TestRedis.millisAfter(block.until());
		assertThat(TestRedis.expiry(this.keys.blocks(ALICE))).isEqualTo(end);
		// The list is written by a later call, and lives longer by the time in between.
		long latest = end + TestRedis.PATIENCE.toMillis();
		assertThat(TestRedis.expiry(this.keys.blockEnds())).isBetween(end, latest);
		assertThat(TestRedis.expiry(this.keys.blockDescriptions())).isBetween(end, latest);
		assertThat(TestRedis.expiry(this.denials)).isEqualTo(end + Duration.ofHours(2).toMillis());
		this.limiter.block(ALICE, "other", Duration.ofHours(9), "manual");
		assertThat(this.limiter.unblock(ALICE, "login")).isTrue();
		deny(this.limiter, 3);
		assertLives(this.keys.blocks(ALICE), Duration.ofMinutes(530), Duration.ofHours(9));
		this.limiter.reset(LOGIN, ALICE);
		assertThat(this.jedis.exists(this.denials)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "list", "short text", "other text of the right len" })
	void foreignDenialsAreReplaced(String content) {
		deny(this.limiter, 2);
		this.jedis.del(this.denials);
		if (content.equals("list")) {
			this.jedis.lpush(this.denials, "x");
		}
		else {
			this.jedis.set(this.denials, content);
		}
		assertThat(deny(this.limiter, 2)).isNull();
		assertThat(deny(this.limiter, 1)).isNotNull();
	}

	@Test
	void damagedBlocksAreReplaced() {
		deny(this.limiter, 2);
		this.jedis.set(this.keys.blocks(ALICE), "\u007f".repeat(20));
		assertThat(deny(this.limiter, 1)).isNotNull();
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isPositive();
	}

	/** As when the process died before it entered the block. */
	@Test
	void blockThatIsNotListedHoldsAndCanBeEnded() {
		deny(this.limiter, 3);
		this.jedis.del(this.keys.blockEnds(), this.keys.blockDescriptions());
		assertThat(this.limiter.blocks()).isEmpty();
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isPositive();
		assertThat(this.limiter.unblock(ALICE, "login")).isTrue();
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isNull();
	}

	@Test
	void listIsBounded() {
		this.limiter.block(ALICE, null, HOUR, "manual");
		Map<String, Double> ends = new HashMap<>();
		IntStream.range(0, 9_998).forEach((i) -> ends.put("of another client " + i, 4e15));
		this.jedis.zadd(this.keys.blockEnds(), ends);
		List<Block> made = new ArrayList<>();
		Identifier bob = Identifier.user("bob");
		this.limiter.withPenaltyListener((block, shadow) -> made.add(block))
			.countDenials(List.of(new Charge(LOGIN, List.of(bob), 3), new Charge(LOGIN, List.of(ADDRESS), 3)));
		assertThat(made).hasSize(2);
		assertThat(this.jedis.zcard(this.keys.blockEnds())).isEqualTo(10_000);
		assertThat(this.limiter.blocks()).hasSize(2).contains(made.get(0)).doesNotContain(made.get(1));
		assertThat(this.limiter.tryAcquire(LOGIN, ADDRESS).blockedFor()).isPositive();
		this.limiter.block(Identifier.user("dave"), null, HOUR, "manual");
		assertThat(this.limiter.blocks()).hasSize(3);
		assertThat(this.limiter.unblock(ADDRESS, "login")).isTrue();
		assertThat(this.limiter.tryAcquire(LOGIN, ADDRESS).allowed()).isTrue();
	}

	@Test
	void fullServerStillDenies() {
		try (OwnRedis server = new OwnRedis(); RedisConnections redis = server.connect("")) {
			RedisRateLimiter full = RedisRateLimiter.of(redis, this.keyPrefix);
			deny(full, 1);
			server.jedis().configSet("maxmemory", "1");
			for (int i = 0; i < 9; i++) {
				Decision denied = full.tryAcquire(LOGIN, ALICE);
				assertThat(denied.allowed()).isFalse();
				assertThat(denied.blockedFor()).isNull();
			}
			server.jedis().configSet("maxmemory", "0");
			assertThat(deny(full, 2)).isNotNull();
		}
	}

	/**
	 * Sends requests until so many are denied. Returns the block that they led to;
	 * {@code null} if there is none.
	 */
	private static @Nullable Block deny(RedisRateLimiter limiter, int requests) {
		List<Block> made = new ArrayList<>();
		RedisRateLimiter listening = limiter.withPenaltyListener((block, shadow) -> made.add(block));
		for (int denied = 0; denied < requests;) {
			denied += listening.tryAcquire(LOGIN, ALICE).allowed() ? 0 : 1;
		}
		return made.isEmpty() ? null : made.get(0);
	}

}
