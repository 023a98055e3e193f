package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Policy;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/**
 * A limiter with Redis keys of its own, on the server that tests share.
 */
abstract class RedisFixture extends StoreTest {

	final UnifiedJedis jedis = TestRedis.client();

	final String keyPrefix = TestRedis.newKeyPrefix();

	final KeyNames keys = new KeyNames(this.keyPrefix);

	/** By the clock of the server. */
	final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	/** By the clock of the test. */
	final RedisRateLimiter clocked = this.limiter.withClock(this.clock);

	/** Every algorithm, and with other options. */
	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	/** What Alice's Redis key of a policy holds. */
	final byte @Nullable [] state(Policy policy) {
		return this.jedis.get(key(policy).getBytes(StandardCharsets.US_ASCII));
	}

	final String key(Policy policy) {
		return this.keys.key(ALICE, policy);
	}

	/** How long Alice's Redis key of a policy lives, in milliseconds. */
	final long timeToLive(Policy policy) {
		return this.jedis.pttl(key(policy));
	}

	final Set<String> keys() {
		return this.jedis.keys(this.keyPrefix + ":*");
	}

	/** The sum of the numbers that a server says of itself in lines of a form. */
	static long sum(String info, String pattern) {
		return Pattern.compile(pattern)
			.matcher(info)
			.results()
			.mapToLong((line) -> Long.parseLong(line.group(1)))
			.sum();
	}

}
