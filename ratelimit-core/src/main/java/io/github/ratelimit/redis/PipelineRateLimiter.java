package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.Batch.Session;
import org.jspecify.annotations.Nullable;
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
 * <b>In a cluster</b> a request whose identifiers lie on several slots is one transaction
 * for each slot. They are sent together, over one connection to each node; what is taken
 * back, replaced or refunded is done slot by slot, after one another. If one of them
 * fails, the others are taken back if there is time, and the request has failed, even if
 * another one denies it. Where a slot has moved, nothing was executed, and it is done
 * there. <b>While a slot moves</b>, transactions on it fail: plain commands cannot be
 * split any further.
 * <p>
 * A client whose pipelines use several connections fails every call. A call that fails is
 * not repeated: it is not known whether the cost was used.
 *
 * @since 0.1
 */
public final class PipelineRateLimiter implements RateLimiter {

	/** How often a request is counted at most. */
	private static final int ATTEMPTS = 3;

	private final Servers servers;

	private final RedisKeys keys;

	private final InstantSource clock;

	private final boolean handsInTime;

	private final PastCounts pastCounts = new PastCounts();

	private PipelineRateLimiter(Servers servers, RedisKeys keys, InstantSource clock, boolean handsInTime) {
		this.servers = servers;
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
	 * @throws IllegalArgumentException if the prefix is invalid
	 */
	public static PipelineRateLimiter of(UnifiedJedis jedis, String keyPrefix) {
		return new PipelineRateLimiter(Servers.of(jedis), new RedisKeys(keyPrefix), InstantSource.system(), false);
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
		return new PipelineRateLimiter(this.servers, this.keys, clock, true);
	}

	@Override
	public void requireSupported(Policy policy) {
		PlainAlgorithm.require(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		requireExpressible(request);
		return call("acquire a request", request, (places) -> {
			if (!Tallies.isCountable(request)) {
				return look(request, places);
			}
			// Nobody is hurt by a denial that comes late.
			count(places, () -> places.stream().allMatch((place) -> place.tallies().isAllowed()));
			boolean allowed = places.stream().allMatch((place) -> place.tallies().isAllowed());
			List<LimitStatus> statuses = new ArrayList<>();
			places.forEach((place) -> statuses.addAll(place.tallies().settle(place.session(), allowed)));
			return new Decision(allowed, SplitRequest.ordered(request, statuses));
		});
	}

	/**
	 * Counts a request soon enough, and in Redis keys that can be counted in.
	 * @param matters whether what was counted matters to others, so that it must not be
	 * late
	 */
	private void count(List<Place> places, BooleanSupplier matters) {
		String reason = "";
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			begin(places);
			countEverywhere(places);
			Moment counted = now();
			boolean late = places.stream().anyMatch((place) -> place.tallies().isLate(counted));
			boolean damaged = places.stream().anyMatch((place) -> place.tallies().areDamaged());
			if (late && matters.getAsBoolean()) {
				places.forEach((place) -> place.tallies().takeBack(place.session()));
				reason = "Redis is too slow to count by the time of a request";
			}
			else if (damaged) {
				places.forEach((place) -> place.tallies().takeBack(place.session()));
				places.forEach((place) -> place.tallies().replaceDamaged(place.session()));
				reason = Session.OTHERS_WRITE;
			}
			else {
				return;
			}
		}
		throw new JedisException(reason);
	}

	/** At once; if one place fails, the others are taken back. */
	private static void countEverywhere(List<Place> places) {
		List<Place> counted = new ArrayList<>();
		RuntimeException failure = null;
		List<Place> begun = new ArrayList<>();
		for (Place place : places) {
			failure = attempt(failure, () -> {
				place.tallies().beginToCount(place.session());
				begun.add(place);
			});
		}
		for (Place place : begun) {
			failure = attempt(failure, () -> {
				place.tallies().end(place.session());
				counted.add(place);
			});
		}
		if (failure != null) {
			for (Place place : counted) {
				failure = attempt(failure, () -> place.tallies().takeBack(place.session()));
			}
			throw failure;
		}
	}

	/** Returns the first failure. */
	private static @Nullable RuntimeException attempt(@Nullable RuntimeException failure, Runnable task) {
		try {
			task.run();
			return failure;
		}
		catch (RuntimeException ex) {
			return (failure != null) ? failure : ex;
		}
	}

	private Decision look(RateLimitRequest request, List<Place> places) {
		begin(places);
		places.forEach((place) -> place.tallies().beginToLook(place.session()));
		places.forEach((place) -> place.tallies().end(place.session()));
		boolean allowed = places.stream().allMatch((place) -> place.tallies().isAllowed());
		List<LimitStatus> statuses = places.stream().flatMap((place) -> place.tallies().statuses().stream()).toList();
		return new Decision(allowed, SplitRequest.ordered(request, statuses));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		requireExpressible(request);
		return call("peek at a request", request, (places) -> look(request, places));
	}

	@Override
	public void refund(RateLimitRequest request) {
		requireExpressible(request);
		call("refund a request", request, (places) -> {
			places.forEach((place) -> Session
				.untilUnchanged(() -> tallies(place.request(), now()).tryRefund(place.session())));
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
		call("charge a request", possible, (places) -> {
			count(places, () -> true);
			places.forEach((place) -> place.tallies().keep(place.session()));
			return possible;
		});
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		PlainAlgorithm.require(policy);
		RateLimitRequest request = RateLimitRequest.of(policy, identifier);
		call("reset a count of the policy '" + policy.name() + "'", request, (places) -> {
			Tally tally = PlainAlgorithm.tally(Charge.of(policy, identifier), identifier, this.keys, now(),
					this.pastCounts);
			Batch batch = new Batch();
			batch.add(Command.DEL, tally.keys().toArray(String[]::new));
			places.get(0).session().transact(batch);
			this.pastCounts.remove(tally.keys());
			return policy;
		});
	}

	private static void requireExpressible(RateLimitRequest request) {
		request.charges().forEach((charge) -> PlainAlgorithm.require(charge.policy()));
	}

	/** The time is that when there are connections, because that may take its time. */
	private void begin(List<Place> places) {
		Moment moment = now();
		places.forEach((place) -> place.tryAgain(tallies(place.request(), moment)));
	}

	private Tallies tallies(RateLimitRequest request, Moment moment) {
		return new Tallies(request, this.keys, moment, this.pastCounts);
	}

	private Moment now() {
		return Moment.now(this.clock, this.handsInTime);
	}

	private <T> T call(String purpose, RateLimitRequest request, Function<List<Place>, T> calls) {
		List<Place> places = new ArrayList<>();
		try {
			List<Part> parts = Part.bySlot(request, (identifier) -> this.servers.slot(this.keys.blocks(identifier)));
			List<Link> links = this.servers.links(parts.stream().map(this::anyKey).toList());
			for (int i = 0; i < parts.size(); i++) {
				places.add(new Place(parts.get(i).request(), links.get(i)));
			}
			return calls.apply(places);
		}
		catch (RuntimeException ex) {
			// Not only of Jedis: a client may fail in other ways, and no request with it.
			throw new StoreException("Redis failed to " + purpose, ex);
		}
		finally {
			places.forEach(Place::close);
		}
	}

	private String anyKey(Part part) {
		return this.keys.blocks(part.request().charges().get(0).identifiers().get(0));
	}

}
