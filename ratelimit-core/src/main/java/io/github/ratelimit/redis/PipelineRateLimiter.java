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

/**
 * A rate limiter with counts in Redis that uses plain commands only, for servers where
 * scripts are forbidden. Where they are allowed, prefer {@link RedisRateLimiter}: it
 * supports every algorithm, decides by the server's clock, and writes nothing for a
 * denied request. The two share no counts.
 * <p>
 * It supports {@code fixed-window} (without past windows), {@code first-request-window},
 * {@code sliding-window-counter} and {@code sliding-window} (with at most 1000
 * sub-windows in a window; without a precision, the sub-windows of each limit are a
 * sixtieth of its window).
 * <p>
 * <b>Round trips.</b> All policies, identifiers and limits of a request are counted and
 * read in one transaction. Plain commands count before they check: an allowed request is
 * one round trip; a denied one cancels its counts in a second, unless its policies count
 * denied requests. More than 4000 counts of windows and sub-windows are several
 * transactions, which may need a round trip each.
 * <p>
 * <b>The bounds of the algorithms hold</b>, however many requests are made at once,
 * because the last of all requests in a window sees the others. They are looser in these
 * points, as {@code without-scripts.md} describes:
 * <ul>
 * <li>The time is that of this process, and <b>the clocks of all machines must agree to
 * within half a second</b>. What was used before a clock is set back counts again when
 * the clock comes to that time.</li>
 * <li>Between the round trips of a denied request, its quota is reserved; until the
 * window ends if the second round trip fails or is too late, or at the end of a window of
 * {@code first-request-window}. Redis keys with a count of 0 remain.</li>
 * <li>Quota that is reserved during a reset or an eviction may be granted once more when
 * it is cancelled. What concurrent refunds give back too much may be used before a third
 * round trip takes it away again.</li>
 * <li>A Redis key that contains no count is replaced; concurrent counts in it may be
 * lost.</li>
 * </ul>
 * <p>
 * <b>In a cluster</b>, a request whose identifiers are in several slots is one
 * transaction for each slot. They are sent together; if one denies or fails, the others
 * are cancelled. While a slot moves, transactions with several of its Redis keys fail.
 * <p>
 * A call that fails is not repeated: it is unknown whether the cost was used.
 */
public final class PipelineRateLimiter implements RateLimiter {

	private final PlainCommands commands;

	PipelineRateLimiter(PlainCommands commands) {
		this.commands = commands;
	}

	/**
	 * Creates a rate limiter, as {@link RedisRateLimiter#of(RedisConnections, String)}.
	 * @throws IllegalArgumentException if the prefix is invalid
	 */
	public static PipelineRateLimiter of(RedisConnections redis, String keyPrefix) {
		return of(redis, new RedisKeys(keyPrefix));
	}

	/**
	 * Creates a rate limiter whose Redis keys do not show who is limited, as with
	 * {@link RedisRateLimiter#of(RedisConnections, String, String)}.
	 * @throws IllegalArgumentException if the prefix is invalid or the secret is empty
	 */
	public static PipelineRateLimiter of(RedisConnections redis, String keyPrefix, String secret) {
		return of(redis, new RedisKeys(keyPrefix, secret.getBytes(StandardCharsets.UTF_8)));
	}

	private static PipelineRateLimiter of(RedisConnections redis, RedisKeys keys) {
		return new PipelineRateLimiter(new PlainCommands(redis.servers(), redis.timeBudget(), redis::deadline, keys));
	}

	/**
	 * Returns a rate limiter on the same connections that uses another clock, for tests.
	 * Redis keys then live for at least a minute, and windows of
	 * {@code first-request-window} end by that clock as well.
	 */
	public PipelineRateLimiter withClock(InstantSource clock) {
		return new PipelineRateLimiter(this.commands.withClock(clock));
	}

	/**
	 * Refuses a policy whose algorithm needs scripts, or that has leases: plain commands
	 * cannot give a part of a quota back without lowering the count of a later window.
	 */
	@Override
	public void requireSupported(Policy policy) {
		if (policy.lease() != null) {
			throw new IllegalArgumentException(
					"Invalid lease (%s): needs scripting, because plain commands cannot cancel a reservation."
						.formatted(policy.lease()));
		}
		this.commands.requireSupported(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return Failures.translate("decide a request", () -> this.commands.tryAcquire(request));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return Failures.translate("read counts", () -> this.commands.peek(request));
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
