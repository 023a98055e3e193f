package io.github.ratelimit.redis.pipeline;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Decides over requests with plain commands. All operations throw a
 * {@link JedisException} if they fail.
 */
public final class PlainCommands implements RateLimiter {

	private final Servers servers;

	private final RedisKeys keys;

	private final Clock clock;

	private final long budget;

	private final PastCounts pastCounts = new PastCounts();

	/**
	 * Creates a rate limiter.
	 * @param servers where the counts are
	 * @param budget how long an operation may take
	 * @param keys names the Redis keys
	 * @param clock the clock
	 * @param handsInTime whether the server's clock does not follow that clock
	 */
	public PlainCommands(Servers servers, Duration budget, RedisKeys keys, InstantSource clock, boolean handsInTime) {
		this.servers = servers;
		this.keys = keys;
		this.clock = new Clock(clock, handsInTime, budget);
		this.budget = budget.toNanos();
	}

	@Override
	public void requireSupported(Policy policy) {
		PlainAlgorithm.require(policy);
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		Attempt attempt = attempt(request, this.pastCounts);
		return isCountable(request) ? attempt.acquire() : attempt.look();
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return attempt(request, this.pastCounts).look();
	}

	@Override
	public void refund(RateLimitRequest request) {
		attempt(request, this.pastCounts).refund();
	}

	@Override
	public void charge(RateLimitRequest request) {
		attempt(request.withPossibleCosts(), this.pastCounts).charge();
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		Attempt attempt = attempt(RateLimitRequest.of(policy, identifier), new PastCounts());
		attempt.reset();
		this.pastCounts.remove(attempt.keys());
	}

	/** Whether there is something to count, and every limit could ever allow it. */
	private static boolean isCountable(RateLimitRequest request) {
		return request.charges().stream().anyMatch((charge) -> charge.cost() > 0)
				&& request.charges().stream().allMatch(PlainCommands::isPossible);
	}

	private static boolean isPossible(Charge charge) {
		Policy policy = charge.policy();
		return policy.limits().stream().allMatch((limit) -> charge.cost() <= policy.algorithm().largestCost(limit));
	}

	private Attempt attempt(RateLimitRequest request, PastCounts pastCounts) {
		List<Counter> counters = new ArrayList<>();
		Time time = this.clock.now();
		for (Charge charge : request.charges()) {
			PlainAlgorithm.require(charge.policy());
			for (Identifier identifier : charge.identifiers()) {
				byte[] bytes = this.keys.key(identifier, charge.policy());
				String key = new String(bytes, StandardCharsets.US_ASCII);
				int slot = this.servers.slot(bytes);
				charge.policy()
					.limits()
					.stream()
					.map((limit) -> new CountedLimit(charge, identifier, limit, key, slot, time))
					.forEach((limit) -> counters.add(PlainAlgorithm.counter(limit, pastCounts)));
			}
		}
		return new Attempt(counters, this.servers, this.clock, this.budget);
	}

}
