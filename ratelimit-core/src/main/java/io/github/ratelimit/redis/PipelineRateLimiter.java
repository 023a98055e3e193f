package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.util.function.Function;
import java.util.function.Predicate;

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
import redis.clients.jedis.exceptions.JedisException;

/**
 * A rate limiter that keeps its counts in Redis and uses plain commands only, for servers
 * where scripts are forbidden. Where they are allowed, {@link RedisRateLimiter} is
 * better: it knows every algorithm, decides by the server's clock and writes nothing for
 * a denied request.
 * <p>
 * It supports {@code fixed-window} (without windows that are kept), {@code
 * first-request-window}, {@code sliding-window-counter} and {@code sliding-window} (with
 * at most 1000 sub-windows to read; without a precision each limit has sub-windows of a
 * sixtieth of its own window). Its counts are not those of {@link RedisRateLimiter}.
 * <p>
 * <b>Clocks.</b> The time of a request is what the clock of this process says when the
 * request is sent, and windows are part of the Redis key. <b>The clocks of all machines
 * must agree to within half a second.</b> A request that was perhaps counted more than
 * half a second after its time is not allowed by that: it is taken back and counted anew,
 * up to three times, and then fails; so is a charge, whether it is allowed or not. So
 * none is overtaken by more than a second, and requests that are ahead by up to a second
 * count as well. Redis keys live a second longer than their window. Only
 * {@code first-request-window} does not depend on clocks: the server ends its windows, to
 * the millisecond.
 * <p>
 * <b>The bound of each algorithm holds for the times of requests, in whatever order they
 * reach Redis.</b> Of the allowed requests of any stretch as long as the window, the one
 * that was counted last has seen all others, and found that they are within the limit
 * together. Who looks at another clock sees windows that are shorter by as much as the
 * clocks differ: {@code sliding-window} may admit more than the quota in a window by that
 * clock, but not in a window less that difference. Clocks that differ by more than half a
 * second may grant a quota each; so may one that is set back by more.
 * <p>
 * <b>Round trips.</b> All policies, identifiers and limits of a request travel together,
 * in one transaction. Plain commands count before they check, so an allowed request is
 * one round trip, and a denied one takes back what it has counted in a second, or in a
 * second and third where {@code first-request-window} has to make sure that its window
 * still lasts. Policies that count denied requests save that.
 * <p>
 * <b>Quota is held between the trips</b> of a request that is denied: another one at the
 * same moment may be denied too early. If the process or the connection dies between
 * them, it remains held until the window ends; so does what {@code
 * sliding-window-counter} finds held in the window before when it remembers its count. A
 * denied request may leave a counter of 0, and may begin a window of {@code
 * first-request-window}.
 * <p>
 * <b>What is lost grants more.</b> A <b>reset</b> grants the quota again, and if denied
 * requests hold some at that moment, which they give back later, as much more; but not
 * with {@code first-request-window}. It is not noticed by other processes as long as they
 * remember the count of the window before of {@code sliding-window-counter}, which they
 * do until the present one ends. A Redis key that is evicted, or overwritten by somebody
 * else, grants what it held, and for {@code first-request-window}, which has two for each
 * limit, a quota for each of them; likewise with what is held. A Redis key that holds
 * something else than a count is replaced when it is to be counted in.
 * <p>
 * <b>Refunds</b> read first, and give back no more than there is. If others count at the
 * same moment they begin again, up to a hundred times, and then fail without an effect.
 * So does a request or charge that has to replace a Redis key.
 * <p>
 * All identifiers of a request must be on the same server: a cluster is not supported
 * yet, and neither is a client whose pipelines use several connections, which fails every
 * call. A call that fails is not repeated: it is not known whether the cost was used.
 *
 * @since 0.1
 */
public final class PipelineRateLimiter implements RateLimiter {

	/** How often a request is counted at most. */
	private static final int ATTEMPTS = 3;

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
		if (!(Servers.of(jedis) instanceof SingleServer)) {
			throw new IllegalArgumentException(
					"Invalid client (%s): a cluster is not supported yet.".formatted(jedis.getClass().getSimpleName()));
		}
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
		PlainAlgorithm.require(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		requireExpressible(request);
		return call("acquire a request", (session) -> {
			if (!Tallies.isCountable(request)) {
				return tallies(request).look(session);
			}
			// Nobody is hurt by a denial that comes late.
			return count(session, request, Tallies::isAllowed).settle(session);
		});
	}

	/**
	 * Counts a request soon enough, and in Redis keys that can be counted in.
	 * @param matters whether what was counted matters to others, so that it must not be
	 * late
	 */
	private Tallies count(Session session, RateLimitRequest request, Predicate<Tallies> matters) {
		String reason = "";
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Tallies tallies = tallies(request);
			tallies.count(session);
			if (tallies.isLate(now()) && matters.test(tallies)) {
				tallies.takeBack(session);
				reason = "Redis is too slow to count by the time of a request";
			}
			else if (tallies.replaceDamaged(session)) {
				reason = Session.OTHERS_WRITE;
			}
			else {
				return tallies;
			}
		}
		throw new JedisException(reason);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		requireExpressible(request);
		return call("peek at a request", (session) -> tallies(request).look(session));
	}

	@Override
	public void refund(RateLimitRequest request) {
		requireExpressible(request);
		call("refund a request", (session) -> {
			Session.untilUnchanged(() -> tallies(request).tryRefund(session));
			return request;
		});
	}

	@Override
	public void charge(RateLimitRequest request) {
		requireExpressible(request);
		RateLimitRequest possible = request.withPossibleCosts();
		if (possible.charges().stream().allMatch((charge) -> charge.cost() == 0)) {
			return;
		}
		call("charge a request", (session) -> {
			count(session, possible, (tallies) -> true).keep(session);
			return possible;
		});
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		PlainAlgorithm.require(policy);
		call("reset a count of the policy '" + policy.name() + "'", (session) -> {
			Tally tally = PlainAlgorithm.tally(Charge.of(policy, identifier), identifier, this.keys, now(),
					this.pastCounts);
			Batch batch = new Batch();
			batch.add(Command.DEL, tally.keys().toArray(String[]::new));
			session.transact(batch);
			this.pastCounts.remove(tally.keys());
			return policy;
		});
	}

	private static void requireExpressible(RateLimitRequest request) {
		request.charges().forEach((charge) -> PlainAlgorithm.require(charge.policy()));
	}

	/** To be called when there is a connection, because that may take its time. */
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
		catch (RuntimeException ex) {
			// Not only of Jedis: a client may fail in other ways, and no request with it.
			throw new StoreException("Redis failed to " + purpose, ex);
		}
	}

}
