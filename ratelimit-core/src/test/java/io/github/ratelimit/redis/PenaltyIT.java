package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What penalties write and read in Redis, by the clock of the server.
 */
class PenaltyIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Duration BLOCK = Duration.ofMinutes(15);

	private static final Policy LOGIN = Policy.of("login", new FixedWindow(), Limit.parse("1/3650d"))
		.withPenalty(new Penalty(3, Duration.ofMinutes(10), BLOCK, Duration.ofHours(2)));

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final KeyNames keys = new KeyNames(this.keyPrefix);

	private final String denials = this.keyPrefix + ":{user:alice}:login:~denials";

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	@Test
	void keysLiveAsLongAsTheyMatter() {
		deny(this.limiter, 2);
		long minute = 60_000;
		assertThat(this.jedis.pttl(this.denials)).isBetween(9 * minute, 10 * minute + 1);
		Block block = deny(this.limiter, 1);
		long end = TestRedis.millisAfter(block.until());
		assertThat(TestRedis.expiry(this.keys.blocks(ALICE))).isEqualTo(end);
		// The list is written by a later call, and lives longer by the time in between.
		long latest = end + TestRedis.PATIENCE.toMillis();
		assertThat(TestRedis.expiry(this.keys.blockEnds())).isBetween(end, latest);
		assertThat(TestRedis.expiry(this.keys.blockDescriptions())).isBetween(end, latest);
		assertThat(TestRedis.expiry(this.denials)).isEqualTo(end + 120 * minute);
		this.limiter.block(ALICE, "other", Duration.ofHours(9), "manual");
		assertThat(this.limiter.unblock(ALICE, "login")).isTrue();
		deny(this.limiter, 3);
		assertThat(this.jedis.pttl(this.keys.blocks(ALICE))).isBetween(530 * minute, 540 * minute + 1);
		this.limiter.reset(LOGIN, ALICE);
		assertThat(this.jedis.exists(this.denials)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "list", "short text", "other text of the right len" })
	void foreignStateIsReplaced(String content) {
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
		this.limiter.block(ALICE, null, Duration.ofHours(1), "manual");
		Map<String, Double> ends = new HashMap<>();
		IntStream.range(0, 9_998).forEach((i) -> ends.put("of another client " + i, 4e15));
		this.jedis.zadd(this.keys.blockEnds(), ends);
		List<Block> made = new ArrayList<>();
		RedisRateLimiter listening = this.limiter.withPenaltyListener((block, shadow) -> made.add(block));
		listening.countDenials(List.of(denials("bob"), denials("carol")));
		assertThat(made).hasSize(2);
		assertThat(this.jedis.zcard(this.keys.blockEnds())).isEqualTo(10_000);
		assertThat(this.limiter.blocks()).hasSize(2).contains(made.get(0)).doesNotContain(made.get(1));
		assertThat(this.limiter.tryAcquire(LOGIN, Identifier.user("carol")).blockedFor()).isPositive();
		this.limiter.block(Identifier.user("dave"), null, Duration.ofHours(1), "manual");
		assertThat(this.limiter.blocks()).hasSize(3);
		assertThat(this.limiter.unblock(Identifier.user("carol"), "login")).isTrue();
		assertThat(this.limiter.tryAcquire(LOGIN, Identifier.user("carol")).allowed()).isTrue();
	}

	private static Charge denials(String user) {
		return new Charge(LOGIN, List.of(Identifier.user(user)), 3);
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
