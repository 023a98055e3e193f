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
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Answer.Penalized;
import io.github.ratelimit.redis.script.Blocks;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A rate limiter with counts in Redis, shared by all processes that use the same server
 * and key prefix.
 * <p>
 * On one server, a single script call decides a request, however many policies,
 * identifiers and limits it has, by the server's clock. The script is composed for the
 * shape of the request. Requests of one shape that wait at the same time share a call;
 * each is decided on its own. Every Redis key expires when it no longer matters.
 * <p>
 * <b>Nothing is sent twice.</b> A request that was not sent within the time budget of the
 * {@link RedisConnections} is never sent and never counted. A request that was sent but
 * not answered may have been counted.
 * <p>
 * <b>In a cluster</b>, each identifier is in one slot, with all its policies and blocks.
 * A request whose identifiers are in several slots is one call for each slot; all are
 * sent before the first answer is awaited. Each call reserves the cost if its limits
 * allow it. If one of them denies the request or fails, the others are cancelled. So no
 * limit admits too much, with one exception: a {@code leaky-bucket} or
 * {@code token-bucket} that was empty may admit as much more as was reserved in it at one
 * time and then cancelled. Until it is cancelled, a reserved cost may deny others too
 * early; if the process or a connection dies before that, or a node whose slot is moving
 * answers the cancellation too late, it does so until the window ends. Refunds and
 * charges in several slots are not undone if one of them fails.
 * <p>
 * Slots may move and replicas may take over at any time: a call that a node refuses,
 * because a slot is elsewhere, is sent to the node that serves it. While a slot moves, a
 * call for several of its Redis keys is split into one for each. What a node had not
 * replicated when it died is lost and may be granted again. The list of all blocks is on
 * one node and is written after the block itself; if that fails, they may not agree.
 * <p>
 * <b>{@linkplain Penalty Penalties}</b> are decided and made in the call that denies the
 * request. The process that made the call then enters the block into the list of all
 * blocks. If it dies before that, its time is up, another node of the request fails, or
 * the list already has 10,000 blocks, the block holds but is not listed; {@link #unblock}
 * ends it as any other. While a slot moves, denials that are decided key by key are not
 * counted. If Redis is full or read-only, requests are denied as without penalties, and
 * nothing is counted.
 *
 * @since 0.1
 */
public final class RedisRateLimiter implements RateLimiter, BlockList, RequestHistory {

	private static final Logger logger = LoggerFactory.getLogger(RedisRateLimiter.class);

	/** Default prefix of all Redis keys. */
	public static final String DEFAULT_KEY_PREFIX = "ratelimit";

	private final RedisConnections redis;

	private final RedisKeys keys;

	private final @Nullable InstantSource clock;

	private final PenaltyListener penaltyListener;

	private final Scripts scripts;

	private final Blocks blocks;

	private RedisRateLimiter(RedisConnections redis, RedisKeys keys, @Nullable InstantSource clock,
			PenaltyListener penaltyListener) {
		this.redis = redis;
		this.keys = keys;
		this.clock = clock;
		this.penaltyListener = penaltyListener;
		this.scripts = new Scripts(keys, redis.servers(), clock);
		this.blocks = new Blocks(keys, redis.servers(), clock);
	}

	/**
	 * Creates a rate limiter with the default key prefix and time budget that borrows
	 * connections of a client.
	 * @param jedis the client, to be closed by the caller
	 * @return a new rate limiter
	 * @throws IllegalArgumentException as {@link RedisConnections#client}
	 */
	public static RedisRateLimiter of(UnifiedJedis jedis) {
		return of(jedis, DEFAULT_KEY_PREFIX);
	}

	/**
	 * Creates a rate limiter with the default time budget that borrows connections of a
	 * client.
	 * @param jedis the client, to be closed by the caller
	 * @param keyPrefix the prefix of all Redis keys: 1 to 64 letters, digits, dots,
	 * underscores, colons and hyphens
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid, or as
	 * {@link RedisConnections#client}
	 */
	public static RedisRateLimiter of(UnifiedJedis jedis, String keyPrefix) {
		return of(RedisConnections.client(jedis).build(), keyPrefix);
	}

	/**
	 * Creates a rate limiter with the default key prefix.
	 * @param redis the connections, to be closed by the caller
	 * @return a new rate limiter
	 */
	public static RedisRateLimiter of(RedisConnections redis) {
		return of(redis, DEFAULT_KEY_PREFIX);
	}

	/**
	 * Creates a rate limiter.
	 * @param redis the connections, to be closed by the caller
	 * @param keyPrefix the prefix of all Redis keys: 1 to 64 letters, digits, dots,
	 * underscores, colons and hyphens
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid
	 */
	public static RedisRateLimiter of(RedisConnections redis, String keyPrefix) {
		return of(redis, new RedisKeys(keyPrefix));
	}

	/**
	 * Creates a rate limiter whose Redis keys do not show who is limited: the values of
	 * identifiers are hashed with a secret (HMAC-SHA-256). All processes that share
	 * counts need the same secret; a new secret resets all counts.
	 * @param redis the connections, to be closed by the caller
	 * @param keyPrefix the prefix of all Redis keys
	 * @param secret the secret, not empty
	 * @return a new rate limiter
	 * @throws IllegalArgumentException if the prefix is invalid or the secret is empty
	 */
	public static RedisRateLimiter of(RedisConnections redis, String keyPrefix, String secret) {
		return of(redis, new RedisKeys(keyPrefix, secret.getBytes(StandardCharsets.UTF_8)));
	}

	/**
	 * Returns an identifier as it appears in Redis keys and lists of blocks if the values
	 * of identifiers are hashed with a secret.
	 * @param identifier the identifier
	 * @param secret the secret, not empty
	 * @return the same type, with a tilde and the hash of the value
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
	 * Returns a rate limiter on the same connections that reports penalties.
	 * @param listener is notified of each identifier that is denied too often, on the
	 * thread of the request
	 * @return a rate limiter
	 */
	public RedisRateLimiter withPenaltyListener(PenaltyListener listener) {
		return new RedisRateLimiter(this.redis, this.keys, this.clock, listener);
	}

	/**
	 * Returns a rate limiter on the same connections that uses a clock instead of the
	 * server's, for tests. Redis keys then live for at least a minute.
	 * @param clock the clock
	 * @return a rate limiter
	 */
	public RedisRateLimiter withClock(InstantSource clock) {
		return new RedisRateLimiter(this.redis, this.keys, clock, this.penaltyListener);
	}

	/**
	 * Refuses a policy whose algorithm has no script beside its class, or an invalid one.
	 * Does not access Redis.
	 */
	@Override
	public void requireSupported(Policy policy) {
		this.scripts.requireComposable(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		long deadline = deadline();
		return decision(Failures.translate("decide a request", () -> acquire(request, deadline)), deadline);
	}

	private Answer acquire(RateLimitRequest request, long deadline) {
		List<SlotRequest> slots = split(request);
		if (slots.size() == 1) {
			try {
				return submit(this.scripts.call(Operation.ACQUIRE, Scope.ALL, request, deadline)).answer();
			}
			catch (JedisException ex) {
				if (!Carrier.isMoving(ex)) {
					throw ex;
				}
				slots = slots.get(0).byKey(true);
			}
		}
		return split(request, deadline).acquire(slots);
	}

	private Decision decision(Answer answer, long deadline) {
		answer.penalties().forEach((penalized) -> report(penalized, deadline));
		return answer.decision();
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
					decision(call.answer(), deadline());
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
		return Failures.translate("read counts", () -> split(request, deadline()).peek(split(request)));
	}

	@Override
	public void refund(RateLimitRequest request) {
		everywhere("refund a request", Operation.REFUND, request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		everywhere("charge a request", Operation.CHARGE, request.withPossibleCosts());
	}

	private void everywhere(String purpose, Operation operation, RateLimitRequest request) {
		Failures.run(purpose, () -> split(request, deadline()).run(operation, split(request)));
	}

	/** Fails while the slot is moving, which costs only time. */
	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
		long deadline = deadline();
		Answer answer = Failures.translate("reserve quota",
				() -> split(request, deadline).reserve(new SlotRequest(request, Scope.ALL)));
		return new Reservation(decision(answer, deadline),
				answer.decision().allowed() ? Instant.EPOCH.plus(answer.reservedAt(), ChronoUnit.MICROS) : null);
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
		Failures.run("cancel a reservation", () -> submit(
				this.scripts.cancel(request, Scope.COUNTS, (charge) -> false, Meter.micros(reservedAt), deadline()))
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
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		BlockList.requireValid(policy);
		return Failures.translate("unblock an identifier", () -> this.blocks.unblock(identifier, policy, deadline()));
	}

	@Override
	public List<Block> blocks() {
		return Failures.translate("list the blocks", () -> this.blocks.list(deadline()));
	}

	private <C extends Call> C submit(C call) {
		this.redis.servers().submit(call);
		return call;
	}

	private long deadline() {
		return System.nanoTime() + this.redis.timeBudget().toNanos();
	}

	private SplitDecision split(RateLimitRequest request, long deadline) {
		return new SplitDecision(this.scripts, this.redis.servers(), request, this.redis.timeBudget(), deadline);
	}

	private List<SlotRequest> split(RateLimitRequest request) {
		SlotRequest whole = new SlotRequest(request, Scope.ALL);
		List<Charge> charges = request.charges();
		Servers servers = this.redis.servers();
		if (!servers.haveSlots() || (charges.size() == 1 && charges.get(0).identifiers().size() == 1)) {
			return List.of(whole);
		}
		return whole.split((identifier) -> servers.slot(this.keys.blocks(identifier)));
	}

}
