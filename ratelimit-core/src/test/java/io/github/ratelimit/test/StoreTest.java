package io.github.ratelimit.test;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;

/**
 * Whom tests of stores ask for, by which clock, and how they look at what is counted.
 */
public abstract class StoreTest {

	protected static final Identifier ALICE = Identifier.user("alice");

	protected static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	protected final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	protected static Policy policy(String name, Algorithm algorithm, String... limits) {
		return Policy.of(name, algorithm, Stream.of(limits).map(Limit::parse).toArray(Limit[]::new));
	}

	protected static Policy policy(Algorithm algorithm, String... limits) {
		return policy("api", algorithm, limits);
	}

	protected static Policy withLimit(Policy policy, String limit) {
		return policy(policy.name(), policy.algorithm(), limit);
	}

	protected static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
	}

	protected static List<Long> remaining(RateLimiter limiter, Policy policy, Identifier identifier) {
		return limiter.peek(RateLimitRequest.of(policy, identifier))
			.statuses()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

	/** Whether a request is allowed; not if the store fails. */
	protected static boolean isAllowed(Supplier<Decision> request) {
		try {
			return request.get().allowed();
		}
		catch (StoreException ex) {
			return false;
		}
	}

}
