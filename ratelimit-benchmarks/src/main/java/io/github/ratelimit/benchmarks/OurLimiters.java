package io.github.ratelimit.benchmarks;

import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.lease.LeasedRateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import redis.clients.jedis.HostAndPort;

/**
 * The rate limiters of this library, on one server. Only this class knows how to create
 * and connect them.
 */
public final class OurLimiters implements AutoCloseable {

	private static final int DENIALS = 100_000;

	private final RedisConnections redis;

	private OurLimiters(URI uri, Duration budget, int connections) {
		this.redis = RedisConnections.server(new HostAndPort(uri.getHost(), uri.getPort()))
			.timeBudget(budget)
			.connections(connections)
			.build();
	}

	/**
	 * Connects to a server.
	 * @param uri the address of the server
	 * @param budget how long a decision may take
	 * @return the rate limiters
	 */
	public static OurLimiters connect(URI uri, Duration budget) {
		return connect(uri, budget, RedisConnections.DEFAULT_CONNECTIONS);
	}

	/**
	 * Connects to a server.
	 * @param uri the address of the server
	 * @param budget how long a decision may take
	 * @param connections number of connections, from 1
	 * @return the rate limiters
	 */
	public static OurLimiters connect(URI uri, Duration budget, int connections) {
		return new OurLimiters(uri, budget, connections);
	}

	/**
	 * Returns the store that decides in scripts; it throws exceptions on failures.
	 */
	public RedisRateLimiter scripts() {
		return RedisRateLimiter.of(this.redis, MeasuredRedis.KEY_PREFIX);
	}

	/**
	 * Returns the store that decides in scripts, with the clock of the caller.
	 */
	public RateLimiter scripts(InstantSource clock) {
		return scripts().withClock(clock);
	}

	/**
	 * Returns the store that sends plain commands.
	 */
	public RateLimiter plainCommands() {
		return PipelineRateLimiter.of(this.redis, MeasuredRedis.KEY_PREFIX);
	}

	/**
	 * Returns the rate limiter that the starter configures: the store, limits in memory
	 * while it fails, and the cache of denials.
	 */
	public RateLimiter wholeStack() {
		RateLimiter outages = new OutageRateLimiter(scripts(), (policy) -> OnStoreFailure.LOCAL,
				new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system())),
				(failure) -> RedisErrorKind.of(failure).isUnanswered());
		return new DenialCache(Duration.ofMinutes(1), DENIALS).cache(outages);
	}

	/**
	 * Returns the store that decides in scripts, with leases, to be closed first.
	 */
	public LeasedRateLimiter leases() {
		return new LeasedRateLimiter(scripts());
	}

	@Override
	public void close() {
		this.redis.close();
	}

}
