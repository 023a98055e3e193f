package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.WindowCount;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

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
public final class RedisRateLimiter implements RateLimiter, BlockList, RequestHistory {

	/**
	 * Prefix of all Redis keys unless another is given.
	 */
	public static final String DEFAULT_KEY_PREFIX = "ratelimit";

	private static final Set<String> CLUSTER_CLIENTS = Set.of("redis.clients.jedis.JedisCluster",
			"redis.clients.jedis.RedisClusterClient");

	private final UnifiedJedis jedis;

	private final RedisKeys keys;

	private final InstantSource clock;

	/** Whether the clock decides, and not the server's. */
	private final boolean handsInTime;

	private final RedisBlocks blocks;

	private final Map<List<String>, Script> scripts = new ConcurrentHashMap<>();

	private RedisRateLimiter(UnifiedJedis jedis, RedisKeys keys, InstantSource clock, boolean handsInTime) {
		this.jedis = jedis;
		this.keys = keys;
		this.clock = clock;
		this.handsInTime = handsInTime;
		this.blocks = new RedisBlocks(jedis, keys);
	}

	/**
	 * Creates a rate limiter with the default key prefix.
	 * @param jedis the client, which remains the caller's to close
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the client is one of a cluster
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
	 * @throws IllegalArgumentException if the prefix is invalid, or the client is one of
	 * a cluster
	 */
	public static RedisRateLimiter of(UnifiedJedis jedis, String keyPrefix) {
		requireSingleServer(jedis);
		return new RedisRateLimiter(jedis, new RedisKeys(keyPrefix), InstantSource.system(), false);
	}

	/** By name, because no client of a cluster exists in every version of Jedis. */
	static void requireSingleServer(UnifiedJedis jedis) {
		for (Class<?> type = jedis.getClass(); type != null; type = type.getSuperclass()) {
			if (CLUSTER_CLIENTS.contains(type.getName())) {
				throw new IllegalArgumentException(
						"Invalid client (%s): a cluster is not supported yet.".formatted(type.getSimpleName()));
			}
		}
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
		return run("acquire", "acquire a request", request, (reply) -> decision(request, reply));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return run("peek", "peek at a request", request, (reply) -> decision(request, reply));
	}

	@Override
	public void refund(RateLimitRequest request) {
		run("refund", "refund a request", request, RedisRateLimiter::nothing);
	}

	@Override
	public void charge(RateLimitRequest request) {
		run("charge", "charge a request", request.withPossibleCosts(), RedisRateLimiter::nothing);
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

	@Override
	public List<LogEntry> entries(Policy policy, Identifier identifier) {
		RequestHistory.requireEntries(policy);
		return run("history", "read the entries of the policy '" + policy.name() + "'",
				RateLimitRequest.of(policy, identifier), RedisRateLimiter::entries);
	}

	@Override
	public List<WindowCount> series(Policy policy, Identifier identifier) {
		RequestHistory.requireWindows(policy);
		return run("history", "read the series of the policy '" + policy.name() + "'",
				RateLimitRequest.of(policy, identifier), (reply) -> series(policy.limits(), reply));
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, reason);
		return this.blocks.block(handedInTime(), identifier, policy, time, reason);
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		BlockList.requireValid(policy);
		return this.blocks.unblock(handedInTime(), identifier, policy);
	}

	@Override
	public List<Block> blocks() {
		return this.blocks.list(handedInTime());
	}

	private <T> T run(String operation, String purpose, RateLimitRequest request, Function<ScriptReply, T> reader) {
		ScriptCall call = ScriptCall.of(operation, handedInTime(), request, this.keys, now());
		try {
			return reader.apply(ScriptReply.of(script(request).run(this.jedis, call.keys(), call.arguments())));
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to " + purpose, ex);
		}
	}

	/** The time for scripts; empty for the server's. */
	private String handedInTime() {
		return this.handsInTime ? Long.toString(now()) : "";
	}

	private long now() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant());
	}

	private Script script(RateLimitRequest request) {
		Map<String, Algorithm> algorithms = new TreeMap<>();
		for (Charge charge : request.charges()) {
			algorithms.put(charge.policy().algorithm().part(), charge.policy().algorithm());
		}
		return this.scripts.computeIfAbsent(List.copyOf(algorithms.keySet()),
				(parts) -> Script.of(algorithms.values()));
	}

	private static boolean nothing(ScriptReply reply) {
		reply.end();
		return true;
	}

	private static Decision decision(RateLimitRequest request, ScriptReply reply) {
		boolean allowed = reply.yesOrNo();
		long blocked = reply.number();
		List<LimitStatus> statuses = new ArrayList<>();
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				for (Limit limit : charge.policy().limits()) {
					statuses.add(LimitStatus.ofMicros(charge.policy(), identifier, limit, reply.number(),
							reply.number(), reply.numberOrNever()));
				}
			}
		}
		reply.end();
		return new Decision(allowed, statuses, (blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null);
	}

	private static List<LogEntry> entries(ScriptReply reply) {
		List<LogEntry> entries = new ArrayList<>();
		while (reply.hasNext()) {
			entries.add(new LogEntry(reply.instant(), reply.number(), reply.text()));
		}
		return entries;
	}

	private static List<WindowCount> series(List<Limit> limits, ScriptReply reply) {
		List<WindowCount> series = new ArrayList<>();
		while (reply.hasNext()) {
			series.add(new WindowCount(limits.get(reply.index(limits.size())), reply.instant(), reply.number()));
		}
		return series;
	}

}
