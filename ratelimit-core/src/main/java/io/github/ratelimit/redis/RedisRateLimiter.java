package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.Reservation;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Answer.Penalized;
import io.github.ratelimit.redis.script.Blocks;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A rate limiter with counts in Redis, shared by all processes that use the same server
 * and key prefix.
 * <p>
 * On one server, one call of a script decides a request by the server's clock, however
 * many policies, identifiers and limits it has. Requests of one shape that wait at the
 * same time share a call. Every Redis key expires when it no longer matters.
 * <p>
 * <b>Nothing is sent twice.</b> A request that was not sent within the time budget of the
 * {@link RedisConnections} is never sent and never counted. A request that was sent but
 * not answered may have been counted.
 * <p>
 * <b>In a cluster</b>, each identifier is in one slot, with all its policies and blocks.
 * A request whose identifiers are in several slots is one call for each slot, all sent
 * together, each of which reserves the whole cost if its limits allow it. If one of them
 * denies or fails, a second call for each of the others gives back what was reserved, and
 * counts the denial if the policy counts denied requests. So no limit admits too much,
 * except that a {@code leaky-bucket} or {@code token-bucket} that was empty may admit as
 * much more as has drained of what was reserved in it and then cancelled. Until then, a
 * reserved cost may deny others too early, and denied requests that count may replace
 * older ones instead of it; if the process, a connection or a moving slot prevents the
 * cancellation, that lasts until the window ends. Quota that is reserved during a reset
 * may be granted once more when it is cancelled. Refunds and charges in several slots are
 * not undone if one of them fails.
 * <p>
 * A call that a node refuses, because the slot is elsewhere, is sent to the node that
 * serves it; while a slot moves, a call for several of its Redis keys becomes one for
 * each. What a node had not replicated when it died may be granted again. The list of all
 * blocks is on one node and is written after the block itself; if that fails, they may
 * not agree.
 * <p>
 * <b>{@linkplain Penalty Penalties}</b> are made in the call that denies the request; for
 * charges in shadow mode in several slots, by a second call. The process that made the
 * call then enters the block into the list of all blocks. If it cannot, or the list has
 * 10,000 blocks, the block holds but is not listed. While a slot moves, denials that are
 * decided key by key are not counted. If Redis is full or read-only, requests are denied
 * as without penalties, and nothing is counted.
 */
public final class RedisRateLimiter implements RateLimiter, BlockList, RequestHistory {

	private static final Logger logger = LoggerFactory.getLogger(RedisRateLimiter.class);

	/** Default prefix of all Redis keys. */
	public static final String DEFAULT_KEY_PREFIX = "ratelimit";

	private final RedisConnections redis;

	private final RedisKeys keys;

	private final @Nullable InstantSource clock;

	private final Scripts scripts;

	private final Blocks blocks;

	private final PenaltyListener penaltyListener;

	private RedisRateLimiter(RedisConnections redis, RedisKeys keys, @Nullable InstantSource clock,
			PenaltyListener penaltyListener) {
		this.redis = redis;
		this.keys = keys;
		this.clock = clock;
		this.scripts = new Scripts(keys, redis.servers(), clock, Composer::compose);
		this.blocks = new Blocks(keys, redis.servers(), clock);
		this.penaltyListener = penaltyListener;
	}

	/**
	 * Creates a rate limiter with the default key prefix and time budget that borrows
	 * connections of a client, to be closed by the caller.
	 * @throws IllegalArgumentException as {@link RedisConnections#client}
	 */
	public static RedisRateLimiter of(UnifiedJedis jedis) {
		return of(RedisConnections.client(jedis).build());
	}

	/**
	 * Creates a rate limiter with the default key prefix.
	 * @param redis the connections, to be closed by the caller
	 */
	public static RedisRateLimiter of(RedisConnections redis) {
		return of(redis, DEFAULT_KEY_PREFIX);
	}

	/**
	 * Creates a rate limiter.
	 * @param redis the connections, to be closed by the caller
	 * @param keyPrefix the prefix of all Redis keys: 1 to 64 letters, digits, dots,
	 * underscores, colons and hyphens
	 * @throws IllegalArgumentException if the prefix is invalid
	 */
	public static RedisRateLimiter of(RedisConnections redis, String keyPrefix) {
		return of(redis, new RedisKeys(keyPrefix));
	}

	/**
	 * Creates a rate limiter whose Redis keys do not show who is limited: the values of
	 * identifiers are hashed with a secret (HMAC-SHA-256). All processes that share
	 * counts need the same secret; a new secret resets all counts.
	 * @throws IllegalArgumentException if the prefix is invalid or the secret is empty
	 */
	public static RedisRateLimiter of(RedisConnections redis, String keyPrefix, String secret) {
		return of(redis, new RedisKeys(keyPrefix, secret.getBytes(StandardCharsets.UTF_8)));
	}

	/**
	 * Returns an identifier as it appears in Redis keys and lists of blocks if there is a
	 * secret: with a tilde and the hash of its value.
	 * @throws IllegalArgumentException if the secret is empty
	 */
	public static Identifier hashed(Identifier identifier, String secret) {
		return new RedisKeys(DEFAULT_KEY_PREFIX, secret.getBytes(StandardCharsets.UTF_8)).shown(identifier);
	}

	private static RedisRateLimiter of(RedisConnections redis, RedisKeys keys) {
		return new RedisRateLimiter(redis, keys, null, (block, shadow) -> {
		});
	}

	/**
	 * Returns a rate limiter on the same connections that reports penalties, on the
	 * thread of the request.
	 */
	public RedisRateLimiter withPenaltyListener(PenaltyListener listener) {
		return new RedisRateLimiter(this.redis, this.keys, this.clock, listener);
	}

	/**
	 * Returns a rate limiter on the same connections that uses a clock instead of the
	 * server's, for tests. Redis keys then live for at least a minute.
	 */
	public RedisRateLimiter withClock(InstantSource clock) {
		return new RedisRateLimiter(this.redis, this.keys, clock, this.penaltyListener);
	}

	/** Refuses a policy whose algorithm has no valid script. Does not access Redis. */
	@Override
	public void requireSupported(Policy policy) {
		this.scripts.requireComposable(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		long deadline = deadline();
		return report(Failures.translate("decide a request", () -> decisionOn(request, deadline).acquire(this.keys)),
				deadline);
	}

	@Override
	public void countDenials(List<Charge> denials) {
		long deadline = deadline();
		Failures.run("count denials", () -> {
			List<ScriptCall> calls = denials.stream()
				.filter((charge) -> charge.policy().penalty() != null)
				.flatMap((charge) -> new SlotRequest(RateLimitRequest.of(charge), Scope.BLOCKS).byIdentifier().stream())
				.map((each) -> submit(
						this.scripts.call(Operation.COUNT_DENIALS, each.scope(), each.request(), deadline)))
				.toList();
			JedisException failure = null;
			for (ScriptCall call : calls) {
				try {
					// Nobody waits for this, so each block has its time to be listed.
					report(call.answer(), deadline());
				}
				catch (JedisException ex) {
					failure = ex;
				}
			}
			if (failure != null) {
				throw failure;
			}
		});
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return Failures.translate("read counts", () -> decisionOn(request, deadline()).peek(slots(request)));
	}

	@Override
	public void refund(RateLimitRequest request) {
		Failures.run("refund a request", () -> decisionOn(request, deadline()).run(Operation.REFUND, slots(request)));
	}

	@Override
	public void charge(RateLimitRequest request) {
		RateLimitRequest possible = request.withPossibleCosts();
		Failures.run("charge a request", () -> decisionOn(possible, deadline()).run(Operation.CHARGE, slots(possible)));
	}

	/** Fails while the slot is moving, which costs only time. */
	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
		long deadline = deadline();
		Answer answer = Failures.translate("reserve quota",
				() -> decisionOn(request, deadline).reserve(new SlotRequest(request, Scope.ALL)));
		return new Reservation(report(answer, deadline),
				answer.decision().allowed() ? Instant.EPOCH.plus(answer.reservedAt(), ChronoUnit.MICROS) : null);
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
		Failures.run("cancel a reservation", () -> submit(
				this.scripts.cancel(request, Scope.COUNTS, (charge) -> -1, Meter.micros(reservedAt), deadline()))
			.await());
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		Failures.run("reset a count of the policy '" + policy.name() + "'",
				() -> submit(this.scripts.reset(policy, identifier, deadline())).await());
	}

	@Override
	public List<LogEntry> entries(Policy policy, Identifier identifier, int most, @Nullable Instant before) {
		RequestHistory.requireEntries(policy, most);
		return Failures.translate("read the entries of the policy '" + policy.name() + "'",
				() -> submit(this.scripts.history(policy, identifier, most, before, deadline())).entries());
	}

	@Override
	public List<WindowCount> series(Policy policy, Identifier identifier) {
		RequestHistory.requireWindows(policy);
		return Failures.translate("read the series of the policy '" + policy.name() + "'",
				() -> submit(this.scripts.history(policy, identifier, Integer.MAX_VALUE, null, deadline())).series());
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, reason);
		return Failures.translate("block an identifier",
				() -> this.blocks.block(identifier, policy, time, reason, deadline()));
	}

	@Override
	public void pause(Identifier identifier, String policy, Duration time) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, "");
		Failures.translate("pause an identifier", () -> this.blocks.pause(identifier, policy, time, deadline()));
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		BlockList.requireValid(policy);
		return Failures.translate("unblock an identifier", () -> this.blocks.unblock(identifier, policy, deadline()));
	}

	@Override
	public List<Block> blocks() {
		return Failures.translate("list the blocks", () -> this.blocks.list(deadline()));
	}

	/** Returns the decision of an answer, with the blocks that it led to. */
	private Decision report(Answer answer, long deadline) {
		answer.penalties().forEach((penalized) -> report(penalized, deadline));
		return answer.penalized();
	}

	/** The block holds, even if it cannot be listed. */
	private void report(Penalized penalized, long deadline) {
		if (!penalized.shadow()) {
			try {
				this.blocks.enter(penalized, deadline);
			}
			catch (JedisException ex) {
				logger.warn("An identifier is blocked in the policy '{}', but not in the list of blocks: {}",
						penalized.charge().policy().name(), ex.getMessage());
			}
		}
		this.penaltyListener.penalized(this.blocks.made(penalized), penalized.shadow());
	}

	private <C extends Call> C submit(C call) {
		this.redis.servers().submit(call);
		return call;
	}

	private long deadline() {
		return this.redis.deadline();
	}

	private SplitDecision decisionOn(RateLimitRequest request, long deadline) {
		return new SplitDecision(this.scripts, this.redis.servers(), request, this.redis.timeBudget(), deadline);
	}

	private List<SlotRequest> slots(RateLimitRequest request) {
		return SlotRequest.of(request, this.redis.servers(), this.keys);
	}

}
