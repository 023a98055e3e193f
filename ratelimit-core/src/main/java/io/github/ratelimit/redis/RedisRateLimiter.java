package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.redis.Driver.Answer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A rate limiter that keeps its counts in Redis, shared by all processes that use the
 * same server and key prefix.
 * <p>
 * On one server every request is one call of a script, however many policies, identifiers
 * and limits it has, and is decided by the server's clock. Every Redis key expires when
 * it no longer matters.
 * <p>
 * <b>In a cluster</b> each identifier lies on one slot, with all its policies and blocks.
 * A request whose identifiers lie on several slots is one call for each slot. All of them
 * are sent before the first answer is awaited. If one of them denies the request, what
 * the others have counted is taken back in a second round trip. So nothing is admitted
 * that a limit does not allow, with one exception: a {@code leaky-bucket} or
 * {@code token-bucket} that was empty may allow as much more as requests held of it at
 * one moment that were then denied. Until it is taken back, which a decision with a
 * {@link TimeBudget} either does within it or not at all, that cost is held: others may
 * be denied too early, and those who look at it see it as used. If the process or a
 * connection dies in between, or if a node does not answer in time, it remains held until
 * the window ends. If a node cannot be connected to, nothing is sent to any other. A
 * request of which one call fails has failed, even if another call has denied it. Refunds
 * and charges on several slots are not undone if one of them fails.
 * <p>
 * Slots may move and replicas may take over at any time: what a node has refused, because
 * a slot is elsewhere, is sent to where it is. While a slot moves, a call for several
 * Redis keys on it is made for each of them, and put together in the same way. What the
 * nodes had not passed on when they died is lost, so that as much may be granted again.
 * Blocks hold as soon as they are written; in a cluster the list of all blocks is on one
 * node, is written after that, and may not agree with it if that fails.
 * <p>
 * Clients of a cluster are those of {@link TimeBudget#ofCluster} and those of Jedis. Of
 * the latter only the connections are used, with their time-outs: Jedis itself would send
 * again what has timed out.
 * <p>
 * A call that fails is not repeated: after a time-out or a broken connection it is not
 * known whether the cost was used. An answer that cannot be read is a failure too. The
 * connection is not used again then, if it is one of a {@link TimeBudget} or to a node of
 * a cluster; other clients of Jedis do use it again, and may take what is left of that
 * answer for the next one.
 *
 * @since 0.1
 */
public final class RedisRateLimiter implements RateLimiter, BlockList, RequestHistory {

	/**
	 * Prefix of all Redis keys unless another is given.
	 */
	public static final String DEFAULT_KEY_PREFIX = "ratelimit";

	private final Servers servers;

	private final RedisKeys keys;

	private final Driver driver;

	private final RedisBlocks blocks;

	private RedisRateLimiter(Servers servers, RedisKeys keys, Driver driver) {
		this.servers = servers;
		this.keys = keys;
		this.driver = driver;
		this.blocks = new RedisBlocks(servers, keys);
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
		Servers servers = Servers.of(jedis);
		RedisKeys keys = new RedisKeys(keyPrefix);
		return new RedisRateLimiter(servers, keys, new Driver(servers, keys, InstantSource.system(), false));
	}

	/**
	 * Returns a rate limiter on the same client that takes the time from a clock instead
	 * of the server, for tests. Redis keys then live for at least a minute.
	 * @param clock the clock
	 * @return a new rate limiter
	 */
	public RedisRateLimiter withClock(InstantSource clock) {
		return new RedisRateLimiter(this.servers, this.keys, this.driver.withClock(clock));
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return ask("acquire a request", () -> {
			List<Part> parts = this.driver.split(request);
			if (parts.size() == 1) {
				Part whole = parts.get(0);
				Call call = this.driver.call("acquire", whole);
				this.driver.send(List.of(call));
				if (!Driver.isMoving(call)) {
					return decision(PartDecision.of(new Answer(whole, call), false));
				}
				parts = whole.byKey(true);
			}
			return new SplitRequest(this.driver, request).acquire(parts);
		});
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return ask("peek at a request", () -> new SplitRequest(this.driver, request).peek(this.driver.split(request)));
	}

	@Override
	public void refund(RateLimitRequest request) {
		ask("refund a request", () -> everywhere("refund", request));
	}

	@Override
	public void charge(RateLimitRequest request) {
		ask("charge a request", () -> everywhere("charge", request.withPossibleCosts()));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		ask("reset a count of the policy '" + policy.name() + "'",
				() -> this.servers.send(Call.delete(this.keys.key(identifier, policy))));
	}

	@Override
	public List<LogEntry> entries(Policy policy, Identifier identifier, int most, @Nullable Instant before) {
		RequestHistory.requireEntries(policy, most);
		return ask("read the entries of the policy '" + policy.name() + "'",
				() -> entries(history(policy, identifier)));
	}

	@Override
	public List<WindowCount> series(Policy policy, Identifier identifier) {
		RequestHistory.requireWindows(policy);
		return ask("read the series of the policy '" + policy.name() + "'",
				() -> series(policy.limits(), history(policy, identifier)));
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, reason);
		return this.blocks.block(this.driver.handedInTime(), identifier, policy, time, reason);
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		BlockList.requireValid(policy);
		return this.blocks.unblock(this.driver.handedInTime(), identifier, policy);
	}

	@Override
	public List<Block> blocks() {
		return this.blocks.list(this.driver.handedInTime());
	}

	/** Does the same everywhere, and expects no answer. */
	private RateLimitRequest everywhere(String operation, RateLimitRequest request) {
		this.driver.send(operation, this.driver.split(request))
			.forEach((answer) -> ScriptReply.of(answer.call().reply()).end());
		return request;
	}

	private ScriptReply history(Policy policy, Identifier identifier) {
		List<Part> parts = this.driver.split(RateLimitRequest.of(policy, identifier));
		return ScriptReply.of(this.driver.send("history", parts).get(0).call().reply());
	}

	private static <T> T ask(String purpose, Supplier<T> question) {
		try {
			return question.get();
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to " + purpose, ex);
		}
	}

	private static Decision decision(PartDecision part) {
		return new Decision(part.allowed(), part.statuses(),
				(part.blocked() > 0) ? Duration.of(part.blocked(), ChronoUnit.MICROS) : null);
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
