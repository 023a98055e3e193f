package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Connects, loads classes and composes a script for each configured policy before the
 * first request, which might not be decided in time otherwise. Policies that are decided
 * together, or in parts, need more scripts later. Startup waits at most two seconds, and
 * not at all if Redis refuses connections.
 */
final class WarmUp implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(WarmUp.class);

	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private final RateLimiter redis;

	private final ConfiguredPolicies policies;

	WarmUp(RateLimiter redis, ConfiguredPolicies policies) {
		this.redis = redis;
		this.policies = policies;
	}

	@Override
	public void afterSingletonsInstantiated() {
		// On a separate thread, because an answer may take the whole timeout.
		Thread thread = new Thread(this::askAll, "ratelimit-warm-up");
		thread.setDaemon(true);
		thread.start();
		try {
			thread.join(PATIENCE.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void askAll() {
		try {
			long end = System.nanoTime() + PATIENCE.toNanos();
			RedisCheck.ask(this.redis, RedisCheck.QUESTION, end);
			this.policies.policies().values().forEach((policy) -> RedisCheck.ask(this.redis, question(policy), end));
		}
		catch (StoreException ex) {
			logger.debug("Redis cannot be used yet", ex);
		}
	}

	/** Returns a request with a cost of 0, so that nothing is written. */
	private static RateLimitRequest question(IdentifiedPolicy policy) {
		List<Identifier> identifiers = IntStream.range(0, policy.identifiers().size())
			.mapToObj((i) -> new Identifier("start", Integer.toString(i)))
			.toList();
		boolean shadow = policy.enforcement().mode() == Mode.SHADOW;
		return new RateLimitRequest(Stream.of(policy.policy(), policy.concurrent())
			.filter(Objects::nonNull)
			.map((each) -> new Charge(each, identifiers, 0, shadow))
			.toList());
	}

}
