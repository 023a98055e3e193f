package io.github.ratelimit.benchmarks;

import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.BreakerRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.redis.TimeBudget;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;

/**
 * The rate limiters of this library, on one server. This class alone knows how they are
 * made and connected.
 */
public final class OurLimiters implements AutoCloseable {

	private static final int DENIALS = 100_000;

	private final UnifiedJedis client;

	private final TimeBudget budget;

	private final BreakerRateLimiter guarded;

	private final OutageRateLimiter outages;

	private OurLimiters(URI uri, Duration budget) {
		this.client = MeasuredRedis.connect(uri);
		this.budget = new TimeBudget(budget, new HostAndPort(uri.getHost(), uri.getPort()),
				DefaultJedisClientConfig.builder().build());
		this.guarded = new BreakerRateLimiter(
				this.budget.limit(RedisRateLimiter.of(this.budget.client(), MeasuredRedis.KEY_PREFIX)),
				(ex) -> RedisErrorKind.of(ex).isOutage());
		this.outages = new OutageRateLimiter(this.guarded, (policy) -> OnStoreFailure.LOCAL,
				new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system()), () -> 1));
	}

	/**
	 * Connects to a server.
	 * @param uri where it is
	 * @param budget how long a {@linkplain #guarded() guarded} decision may take
	 * @return the rate limiters
	 */
	public static OurLimiters connect(URI uri, Duration budget) {
		return new OurLimiters(uri, budget);
	}

	/**
	 * Returns the store that decides in scripts.
	 */
	public RedisRateLimiter scripts() {
		return RedisRateLimiter.of(this.client, MeasuredRedis.KEY_PREFIX);
	}

	/**
	 * Returns the store that decides in scripts, by a clock of the caller's.
	 */
	public RateLimiter scripts(InstantSource clock) {
		return scripts().withClock(clock);
	}

	/**
	 * Returns the store that sends plain commands.
	 */
	public RateLimiter plainCommands() {
		return PipelineRateLimiter.of(this.client, MeasuredRedis.KEY_PREFIX);
	}

	/**
	 * Returns the store with a deadline and a breaker: it throws what goes wrong.
	 */
	public RateLimiter guarded() {
		return this.guarded;
	}

	/**
	 * Returns what an application gets from the starter: the guarded store, limits in
	 * memory while it fails, and the memory of who was denied.
	 */
	public RateLimiter wholeStack() {
		return new DenialCache(Duration.ofMinutes(1), DENIALS).cache(this.outages);
	}

	@Override
	public void close() {
		this.outages.close();
		this.guarded.close();
		this.budget.client().close();
		this.client.close();
	}

}
