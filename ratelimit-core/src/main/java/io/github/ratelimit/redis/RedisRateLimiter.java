package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

import static java.time.Instant.EPOCH;

/**
 * A rate limiter that keeps its counts in Redis, shared by all processes that use the
 * same server and key prefix.
 * <p>
 * Every request is one call of a script, however many policies, identifiers and limits it
 * has, and is decided by the server's clock. Every Redis key expires when it no longer
 * matters. All identifiers of a request must be on the same server: a cluster, where they
 * may lie on different nodes, is not supported yet.
 * <p>
 * A call that fails is not repeated: after a time-out or a broken connection it is not
 * known whether the cost was used.
 *
 * @since 0.1
 */
public final class RedisRateLimiter implements RateLimiter {

	/**
	 * Prefix of all Redis keys unless another is given.
	 */
	public static final String DEFAULT_KEY_PREFIX = "ratelimit";

	private final UnifiedJedis jedis;

	private final RedisKeys keys;

	private final InstantSource clock;

	/** Whether the clock decides, and not the server's. */
	private final boolean handsInTime;

	private final Map<List<String>, Script> scripts = new ConcurrentHashMap<>();

	private RedisRateLimiter(UnifiedJedis jedis, RedisKeys keys, InstantSource clock, boolean handsInTime) {
		this.jedis = jedis;
		this.keys = keys;
		this.clock = clock;
		this.handsInTime = handsInTime;
	}

	/**
	 * Creates a rate limiter with the default key prefix.
	 * @param jedis the client, which remains the caller's to close
	 * @return a new rate limiter
	 */
	public static RedisRateLimiter of(UnifiedJedis jedis) {
		return of(jedis, DEFAULT_KEY_PREFIX);
	}

	/**
	 * Creates a rate limiter.
	 * @param jedis the client, which remains the caller's to close
	 * @param keyPrefix what the names of all Redis keys start with: 1 to 64 letters,
	 * digits, dots, underscores, colons and hyphens
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid
	 */
	public static RedisRateLimiter of(UnifiedJedis jedis, String keyPrefix) {
		return new RedisRateLimiter(jedis, new RedisKeys(keyPrefix), InstantSource.system(), false);
	}

	/**
	 * Returns a rate limiter on the same client that takes the time from a clock instead
	 * of the server, for tests. Redis keys then live for at least a minute.
	 * @param clock the clock
	 * @return a new rate limiter
	 */
	public RedisRateLimiter withClock(InstantSource clock) {
		return new RedisRateLimiter(this.jedis, this.keys, clock, true);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return decision(request, run("acquire", request));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return decision(request, run("peek", request));
	}

	@Override
	public void refund(RateLimitRequest request) {
		run("refund", request);
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		try {
			this.jedis.del(this.keys.key(identifier, policy));
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to reset a count of the policy '" + policy.name() + "'", ex);
		}
	}

	private List<Long> run(String operation, RateLimitRequest request) {
		List<String> keys = new ArrayList<>();
		List<String> arguments = new ArrayList<>();
		arguments.add(operation);
		long now = ChronoUnit.MICROS.between(EPOCH, this.clock.instant());
		arguments.add(this.handsInTime ? Long.toString(now) : "");
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				keys.add(this.keys.key(identifier, charge.policy()));
				addArguments(arguments, charge, now);
			}
		}
		try {
			return script(request).run(this.jedis, keys, arguments);
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to decide a request", ex);
		}
	}

	private static void addArguments(List<String> arguments, Charge charge, long now) {
		Policy policy = charge.policy();
		List<Limit> limits = policy.limits();
		arguments.add(policy.algorithm().part());
		arguments.add(Long.toString(charge.cost()));
		arguments.add(policy.countDenied() ? "1" : "0");
		arguments.add(Integer.toString(limits.size()));
		for (Limit limit : limits) {
			arguments.add(Long.toString(limit.quota()));
			arguments.add(Long.toString(limit.windowMicros()));
		}
		List<String> options = policy.algorithm().options(limits, now);
		arguments.add(Integer.toString(options.size()));
		arguments.addAll(options);
	}

	private Script script(RateLimitRequest request) {
		Map<String, Algorithm> algorithms = new TreeMap<>();
		for (Charge charge : request.charges()) {
			algorithms.put(charge.policy().algorithm().part(), charge.policy().algorithm());
		}
		return this.scripts.computeIfAbsent(List.copyOf(algorithms.keySet()),
				(parts) -> Script.of(algorithms.values()));
	}

	private static Decision decision(RateLimitRequest request, List<Long> reply) {
		Iterator<Long> numbers = reply.iterator();
		boolean allowed = numbers.next() == 1;
		List<LimitStatus> statuses = new ArrayList<>(reply.size() / 3);
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				for (Limit limit : charge.policy().limits()) {
					statuses.add(LimitStatus.ofMicros(charge.policy(), identifier, limit, numbers.next(),
							numbers.next(), numbers.next()));
				}
			}
		}
		return new Decision(allowed, statuses);
	}

}
