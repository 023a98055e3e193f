package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.InstantSource;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.pipeline.PlainCommands;
import io.github.ratelimit.redis.script.RedisKeys;
import redis.clients.jedis.UnifiedJedis;

/**
 * A rate limiter that keeps its counts in Redis and uses plain commands only, for servers
 * where scripts are forbidden. Where they are allowed, {@link RedisRateLimiter} is
 * better: it knows every algorithm, decides by the server's clock, and writes nothing for
 * a denied request.
 * <p>
 * It supports {@code fixed-window} (without windows that are kept), {@code
 * first-request-window}, {@code sliding-window-counter} and {@code sliding-window} (with
 * at most 1000 sub-windows in a window; without a precision each limit has sub-windows of
 * a sixtieth of its own window). Its counts are not those of {@link RedisRateLimiter}.
 * <p>
 * <b>Round trips.</b> All policies, identifiers and limits of a request are counted and
 * read in one transaction. Plain commands count before they check: an allowed request is
 * one round trip, and a denied one takes its counts back in a second. Policies that count
 * denied requests save the second one.
 * <p>
 * <b>The bounds of the algorithms hold</b>, however many requests are made at once: each
 * is counted before it reads, so of all that share a window the last one sees the others.
 * What is looser than with scripts:
 * <ul>
 * <li><b>Clocks.</b> Except for {@code first-request-window}, whose windows the server
 * ends, the time is that of this process, and <b>the clocks of all machines must agree to
 * within half a second</b>. Clocks that differ more may grant a quota each, and a clock
 * that is set back by more grants the quota of the earlier windows. By another clock,
 * windows may seem shorter, and waits longer, by as much as the clocks differ.</li>
 * <li><b>Quota is held between the trips</b> of a denied request, so that another one may
 * be denied too early. If the second trip is lost, or there is no time left for it, the
 * quota stays held until the window ends. So does quota of {@code first-request-window}
 * that would be given back shortly before its window ends, in the last half second and
 * twice the time budget, because it must not fall into the next one; refunds have no
 * effect then. A process that remembers the count of the window before for
 * {@code sliding-window-counter} remembers what was held at that moment.</li>
 * <li><b>A denied request leaves a trace:</b> Redis keys with a count of 0, and it may
 * begin a window of {@code first-request-window}.</li>
 * <li><b>A reset</b> is not noticed by other processes that remember the window before of
 * {@code sliding-window-counter}, until the present one ends. Quota that is held during a
 * reset or an eviction may be granted once more when it is given back.</li>
 * <li><b>Refunds</b> read the counts first, and give back no more than they find. If
 * several of them find the same, what was given back too much is taken away in a third
 * trip, and may be used before that.</li>
 * <li><b>A Redis key that holds no count</b> counts as empty and is replaced; what others
 * count in it at the same moment may be lost.</li>
 * </ul>
 * <p>
 * <b>In a cluster</b> a request whose identifiers lie on several slots is one transaction
 * for each slot. They are sent together; if one of them denies the request or fails, the
 * others are taken back. A request of which one transaction fails has failed. While a
 * slot moves, transactions on several Redis keys of it fail.
 * <p>
 * A call that fails is not repeated: it is not known whether the cost was used.
 *
 * @since 0.1
 */
public final class PipelineRateLimiter implements RateLimiter {

	private final PlainCommands commands;

	PipelineRateLimiter(PlainCommands commands) {
		this.commands = commands;
	}

	/**
	 * Creates a rate limiter with the default key prefix, that borrows connections of a
	 * client and has the default time budget.
	 * @param jedis the client, which remains the caller's to close
	 * @return a new rate limiter
	 * @throws IllegalArgumentException as {@link RedisConnections#client}
	 */
	public static PipelineRateLimiter of(UnifiedJedis jedis) {
		return of(jedis, RedisRateLimiter.DEFAULT_KEY_PREFIX);
	}

	/**
	 * Creates a rate limiter that borrows connections of a client and has the default
	 * time budget.
	 * @param jedis the client, which remains the caller's to close
	 * @param keyPrefix what the names of all Redis keys start with: 1 to 64 letters,
	 * digits, dots, underscores, colons and hyphens
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid, or as
	 * {@link RedisConnections#client}
	 */
	public static PipelineRateLimiter of(UnifiedJedis jedis, String keyPrefix) {
		return of(RedisConnections.client(jedis).build(), keyPrefix);
	}

	/**
	 * Creates a rate limiter.
	 * @param redis how to reach Redis; remains the caller's to close
	 * @param keyPrefix what the names of all Redis keys start with: 1 to 64 letters,
	 * digits, dots, underscores, colons and hyphens
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid
	 */
	public static PipelineRateLimiter of(RedisConnections redis, String keyPrefix) {
		return of(redis, new RedisKeys(keyPrefix));
	}

	/**
	 * Creates a rate limiter whose Redis keys do not show who is limited, as
	 * {@link RedisRateLimiter#of(RedisConnections, String, String)}.
	 * @param redis how to reach Redis; remains the caller's to close
	 * @param keyPrefix what the names of all Redis keys start with
	 * @param secret the secret, not empty
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid or the secret is empty
	 */
	public static PipelineRateLimiter of(RedisConnections redis, String keyPrefix, String secret) {
		return of(redis, new RedisKeys(keyPrefix, secret.getBytes(StandardCharsets.UTF_8)));
	}

	private static PipelineRateLimiter of(RedisConnections redis, RedisKeys keys) {
		return new PipelineRateLimiter(new PlainCommands(redis.servers(), redis.timeBudget(), keys));
	}

	/**
	 * Returns a rate limiter on the same connections that takes the time from another
	 * clock, for tests. Redis keys then live for at least a minute, and windows of
	 * {@code first-request-window} end by that clock as well.
	 * @param clock the clock
	 * @return a new rate limiter
	 */
	public PipelineRateLimiter withClock(InstantSource clock) {
		return new PipelineRateLimiter(this.commands.withClock(clock));
	}

	@Override
	public void requireSupported(Policy policy) {
		this.commands.requireSupported(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return Failures.translate("acquire a request", () -> this.commands.tryAcquire(request));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return Failures.translate("peek at a request", () -> this.commands.peek(request));
	}

	@Override
	public void refund(RateLimitRequest request) {
		Failures.run("refund a request", () -> this.commands.refund(request));
	}

	@Override
	public void charge(RateLimitRequest request) {
		Failures.run("charge a request", () -> this.commands.charge(request));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		Failures.run("reset a count of the policy '" + policy.name() + "'",
				() -> this.commands.reset(policy, identifier));
	}

}
