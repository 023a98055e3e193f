package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.Batch.Session;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A rate limiter that keeps its counts in Redis and uses plain commands only, for servers
 * where scripts are forbidden. Where they are allowed, {@link RedisRateLimiter} is
 * better: it knows every algorithm, decides by the server's clock and writes nothing for
 * a denied request.
 * <p>
 * It supports {@code fixed-window} (without windows that are kept), {@code
 * first-request-window}, {@code sliding-window-counter} and {@code sliding-window} (with
 * at most 1000 sub-windows in a window; without a precision each limit has sub-windows of
 * a sixtieth of its own window). Its counts are not those of {@link RedisRateLimiter}.
 * <p>
 * <b>Clocks.</b> Requests are decided by the clock of this process, and windows are part
 * of the Redis key. <b>The clocks of all machines must agree to well within a window</b>:
 * two machines that take different windows for the present one grant a quota each. Redis
 * keys live a second longer than their window for that. A clock that is set back counts
 * in the windows of its time. Only {@code first-request-window} ends its windows by the
 * server's clock, to the millisecond.
 * <p>
 * <b>Round trips.</b> All policies, identifiers and limits of a request travel together,
 * in one transaction. Plain commands count before they check, so an allowed request is
 * one round trip, and a denied one takes back what it has counted in a second, or in a
 * second and third where {@code first-request-window} has to make sure that its window
 * still lasts. Policies that count denied requests save that.
 * <p>
 * <b>The bound of an algorithm holds for requests that reach Redis in the order of their
 * times</b>: every allowed request has found itself and all that were counted before in
 * its windows within the limits. Requests that overtake each other at the edge of a
 * window or sub-window do not see each other, so that {@code sliding-window} above all
 * may admit more than the quota; so may a key that somebody else has damaged, while it is
 * replaced. And <b>quota is held between the trips</b> of a request that is denied:
 * another one at the same moment may be denied too early. If the process or the
 * connection dies between them, it remains held until the window ends. A denied request
 * may leave a counter of 0, and may begin a window of {@code first-request-window}.
 * <p>
 * <b>Refunds</b> read first, and give back no more than there is. Two of them at once, or
 * a refund and a reset, may take a counter below 0 for a moment; that is put right at
 * once, but a request of that moment may find too much quota. A <b>reset</b> is not
 * noticed by other processes as long as they remember the count of the window before of
 * {@code sliding-window-counter}, which they do until the present one ends. A Redis key
 * that holds something else than a count is replaced when it is to be counted in.
 * <p>
 * All identifiers of a request must be on the same server: a cluster is not supported
 * yet. A call that fails is not repeated: it is not known whether the cost was used.
 *
 * @since 0.1
 */
public final class PipelineRateLimiter implements RateLimiter {

	private static final List<String> ALGORITHMS = List.of("fixed-window", "first-request-window", "sliding-window",
			"sliding-window-counter");

	private final UnifiedJedis jedis;

	private final RedisKeys keys;

	private final InstantSource clock;

	private final boolean handsInTime;

	private final PastCounts pastCounts = new PastCounts();

	private PipelineRateLimiter(UnifiedJedis jedis, RedisKeys keys, InstantSource clock, boolean handsInTime) {
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
	public static PipelineRateLimiter of(UnifiedJedis jedis) {
		return of(jedis, RedisRateLimiter.DEFAULT_KEY_PREFIX);
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
	public static PipelineRateLimiter of(UnifiedJedis jedis, String keyPrefix) {
		RedisRateLimiter.requireSingleServer(jedis);
		return new PipelineRateLimiter(jedis, new RedisKeys(keyPrefix), InstantSource.system(), false);
	}

	/**
	 * Returns a rate limiter on the same client that takes the time from another clock,
	 * for tests. Redis keys then live for at least a minute, and windows of
	 * {@code first-request-window} end by that clock as well, which takes more round
	 * trips.
	 * @param clock the clock
	 * @return a new rate limiter
	 */
	public PipelineRateLimiter withClock(InstantSource clock) {
		return new PipelineRateLimiter(this.jedis, this.keys, clock, true);
	}

	@Override
	public void requireSupported(Policy policy) {
		requireExpressible(policy);
	}

	/** Refuses a policy that plain commands cannot express. */
	static void requireExpressible(Policy policy) {
		String algorithm = policy.algorithm().name();
		if (!ALGORITHMS.contains(algorithm)) {
			throw new IllegalArgumentException("Invalid algorithm (%s): must be one of %s where scripts are not used."
				.formatted(algorithm, String.join(", ", ALGORITHMS)));
		}
		if (algorithm.equals("fixed-window") && !policy.algorithm().options(policy.limits(), 0).get(0).equals("1")) {
			throw new IllegalArgumentException(
					"Invalid retain (%s): no past windows can be kept where scripts are not used."
						.formatted(policy.algorithm().options(policy.limits(), 0).get(0)));
		}
		if (algorithm.equals("sliding-window")) {
			SlidingWindowTally.requireSupported(policy);
		}
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		Tallies tallies = tallies(request);
		return call("decide a request", (session) -> {
			if (!tallies.isCountable()) {
				tallies.read(session);
				return tallies.look();
			}
			count(tallies, session);
			return tallies.settle(session);
		});
	}

	private static void count(Tallies tallies, Session session) {
		tallies.count(session);
		if (tallies.replaceDamaged(session)) {
			tallies.count(session);
			if (tallies.replaceDamaged(session)) {
				throw new JedisDataException("Somebody else writes to the Redis keys");
			}
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		Tallies tallies = tallies(request);
		return call("decide a request", (session) -> {
			tallies.read(session);
			return tallies.look();
		});
	}

	@Override
	public void refund(RateLimitRequest request) {
		Tallies tallies = tallies(request);
		call("refund a request", (session) -> {
			tallies.read(session);
			tallies.refund(session);
			return request;
		});
	}

	@Override
	public void charge(RateLimitRequest request) {
		List<Charge> charges = request.charges().stream().map(PipelineRateLimiter::possible).toList();
		Tallies tallies = tallies(new RateLimitRequest(charges, request.metadata()));
		call("charge a request", (session) -> {
			count(tallies, session);
			return request;
		});
	}

	/** The same charge at a cost that some limit could allow. */
	private static Charge possible(Charge charge) {
		Policy policy = charge.policy();
		long largest = policy.limits()
			.stream()
			.mapToLong((limit) -> policy.algorithm().largestCost(limit))
			.max()
			.orElseThrow();
		return charge.withCost(Math.min(charge.cost(), largest));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		Tally tally = Tallies.tally(Charge.of(policy, identifier), identifier, this.keys, now(), this.pastCounts);
		call("reset a count of the policy '" + policy.name() + "'", (session) -> {
			Batch batch = new Batch();
			batch.add(Command.DEL, tally.keys().toArray(String[]::new));
			session.transact(batch);
			this.pastCounts.remove(tally.keys());
			return policy;
		});
	}

	private Tallies tallies(RateLimitRequest request) {
		return new Tallies(request, this.keys, now(), this.pastCounts);
	}

	private Moment now() {
		return Moment.now(this.clock, this.handsInTime);
	}

	private <T> T call(String purpose, Function<Session, T> calls) {
		try (Session session = new Session(this.jedis)) {
			return calls.apply(session);
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to " + purpose, ex);
		}
	}

}
