package io.github.ratelimit.redis.pipeline;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Servers;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Decides over requests with plain commands. All operations throw a
 * {@link JedisException} if they fail. Safe for use by several threads.
 */
public final class PlainCommands {

	private final Servers servers;

	private final BiFunction<Identifier, Policy, String> keys;

	private final Clock clock;

	private final long budget;

	private final PastCounts pastCounts = new PastCounts();

	/**
	 * Creates the commands for some servers.
	 * @param servers where the counts are
	 * @param budget how long an operation may take
	 * @param keys what the Redis keys of a policy and identifier begin with
	 * @param clock the clock
	 * @param handsInTime whether the server's clock does not follow that clock
	 */
	public PlainCommands(Servers servers, Duration budget, BiFunction<Identifier, Policy, String> keys,
			InstantSource clock, boolean handsInTime) {
		this.servers = servers;
		this.keys = keys;
		this.clock = new Clock(clock, handsInTime, budget);
		this.budget = budget.toNanos();
	}

	/**
	 * Refuses a policy that plain commands cannot express.
	 * @param policy the policy
	 * @throws IllegalArgumentException if its algorithm or its options are not supported
	 */
	public static void requireSupported(Policy policy) {
		PlainAlgorithm.require(policy);
	}

	/**
	 * Uses the cost of the request if every limit allows it.
	 * @param request the request
	 * @return the decision
	 */
	public Decision acquire(RateLimitRequest request) {
		Attempt attempt = attempt(request, this.pastCounts);
		return isCountable(request) ? attempt.acquire() : attempt.look();
	}

	/**
	 * Decides over the request, and writes nothing.
	 * @param request the request
	 * @return the decision
	 */
	public Decision peek(RateLimitRequest request) {
		return attempt(request, this.pastCounts).look();
	}

	/**
	 * Gives the cost of the request back.
	 * @param request the request
	 */
	public void refund(RateLimitRequest request) {
		attempt(request, this.pastCounts).refund();
	}

	/**
	 * Uses the cost of the request, whether it is allowed or not.
	 * @param request the request
	 */
	public void charge(RateLimitRequest request) {
		attempt(request.withPossibleCosts(), this.pastCounts).charge();
	}

	/**
	 * Forgets all that an identifier has used of a policy.
	 * @param policy the policy
	 * @param identifier the identifier
	 */
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
				String key = this.keys.apply(identifier, charge.policy());
				int slot = this.servers.slot(key.getBytes(StandardCharsets.UTF_8));
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
