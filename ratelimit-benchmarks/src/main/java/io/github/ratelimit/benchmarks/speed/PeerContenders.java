package io.github.ratelimit.benchmarks.speed;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.redis.jedis.Bucket4jJedis;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.github.ratelimit.benchmarks.MeasuredRedis;
import io.lettuce.core.RedisClient;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.UnifiedJedis;

/**
 * Other libraries, used as in their documentation.
 */
final class PeerContenders {

	static final Map<String, Function<URI, Contender>> ALL = new LinkedHashMap<>();

	/** Never used up. */
	private static final long QUOTA = 1_000_000;

	static {
		ALL.put("bucket4j, Jedis", PeerContenders::bucket4jJedis);
		ALL.put("bucket4j, Lettuce", PeerContenders::bucket4jLettuce);
		ALL.put("Redisson", PeerContenders::redisson);
	}

	private PeerContenders() {
	}

	private static Contender bucket4jJedis(URI server) {
		UnifiedJedis jedis = MeasuredRedis.connect(server);
		return bucket4j(Bucket4jJedis.casBasedBuilder(jedis).expirationAfterWrite(expiration()).build(), jedis::close);
	}

	private static Contender bucket4jLettuce(URI server) {
		RedisClient lettuce = RedisClient.create(server.toString());
		return bucket4j(Bucket4jLettuce.casBasedBuilder(lettuce).expirationAfterWrite(expiration()).build(),
				lettuce::shutdown);
	}

	private static ExpirationAfterWriteStrategy expiration() {
		return ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10));
	}

	private static Contender bucket4j(ProxyManager<byte[]> buckets, Runnable close) {
		BucketConfiguration configuration = BucketConfiguration.builder()
			.addLimit((limit) -> limit.capacity(QUOTA).refillGreedy(QUOTA, Duration.ofMinutes(1)))
			.build();
		return Contender.of((user) -> {
			byte[] key = (MeasuredRedis.KEY_PREFIX + ":bucket4j:" + user).getBytes(StandardCharsets.UTF_8);
			return buckets.getProxy(key, () -> configuration).tryConsumeAndReturnRemaining(1).isConsumed();
		}, close);
	}

	private static Contender redisson(URI server) {
		Config config = new Config();
		config.useSingleServer().setAddress(server.toString());
		RedissonClient redisson = Redisson.create(config);
		Map<String, RRateLimiter> limiters = new ConcurrentHashMap<>();
		return Contender.of((user) -> limiters.computeIfAbsent(user, (name) -> {
			RRateLimiter limiter = redisson.getRateLimiter(MeasuredRedis.KEY_PREFIX + ":redisson:" + name);
			limiter.trySetRate(RateType.OVERALL, QUOTA, Duration.ofMinutes(1));
			return limiter;
		}).tryAcquire(), redisson::shutdown);
	}

}
