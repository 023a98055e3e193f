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
 * because the last of all requests in a window sees the others. In these points it is
 * less exact than scripts:
 * <ul>
 * <li><b>Clocks.</b> The time is that of this process, and <b>the clocks of all machines
 * must agree to within half a second</b>. Clocks that differ more, or are set back by
 * more, may grant a quota each. By another clock, windows may seem shorter, and waits
 * longer, by the difference. What was used before a clock is set back counts again when
 * the clock comes to that time: for {@code fixed-window} during that window, for
 * {@code sliding-window} from half a second and the time budget before until a window and
 * a sub-window after the start of its sub-window, and for {@code sliding-window-counter}
 * from as long before its window until the end of the next. The windows of
 * {@code first-request-window} are ended by the server: if its clock is set back, the
 * next request ends the present window one window later.</li>
 * <li><b>Between the round trips of a denied request, its quota is reserved</b>, so that
 * another request may be denied too early; until the window ends if the second round trip
 * fails or is too late. The same is true of {@code first-request-window} in the last half
 * second and twice the time budget of a window, where refunds have no effect either. A
 * process that caches the previous window of {@code sliding-window-counter} caches what
 * was reserved at that time.</li>
 * <li><b>A denied request leaves a trace:</b> Redis keys with a count of 0, and it may
 * begin a window of {@code first-request-window}.</li>
 * <li><b>A reset</b> is noticed by other processes that have cached the previous window
 * of {@code sliding-window-counter} when the current one ends. Quota that is reserved
 * during a reset or an eviction may be granted once more when it is cancelled.</li>
 * <li><b>Refunds</b> read the counts first, and give back no more than they find. What
 * concurrent refunds give back too much, a third round trip takes away again; it may be
 * used before that.</li>
 * <li><b>A Redis key that contains no count</b> is treated as empty and replaced;
 * concurrent counts in it may be lost.</li>
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
	 * Creates a rate limiter.
	 * @param redis the connections, to be closed by the caller
	 * @param keyPrefix the prefix of all Redis keys: 1 to 64 letters, digits, dots,
	 * underscores, colons and hyphens
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
