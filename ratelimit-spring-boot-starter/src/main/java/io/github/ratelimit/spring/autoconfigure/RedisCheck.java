package io.github.ratelimit.spring.autoconfigure;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.ConfiguredPolicies;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;

/**
 * Says in the log that Redis cannot be used, once the application is ready: otherwise
 * nobody would know before the first request what is not limited. Neither the start nor
 * the health of the application depends on it.
 */
final class RedisCheck implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(RedisCheck.class);

	/** A policy that every store can hold, and that nothing is ever counted by. */
	private static final Policy QUESTION = Policy.of("start", new FixedWindow(), Limit.parse("1/s"));

	private final RateLimiter redis;

	private final ConfiguredPolicies policies;

	RedisCheck(RateLimiter redis, ConfiguredPolicies policies) {
		this.redis = redis;
		this.policies = policies;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		// On a thread of its own, because the answer may take the whole time-out.
		Thread thread = new Thread(() -> check(event.getApplicationContext()), "ratelimit-redis-check");
		thread.setDaemon(true);
		thread.start();
	}

	/** Asks for a decision, with a cost of 0, which writes nothing. */
	void check(ConfigurableApplicationContext context) {
		try {
			this.redis.tryAcquire(QUESTION, Identifier.GLOBAL, 0);
		}
		catch (StoreException ex) {
			if (!context.isClosed()) {
				logger.warn(
						"Redis cannot be used. Until it can, {}. Is Redis running, and is ratelimit.redis.url right? {}",
						consequences(), reason(ex));
			}
		}
	}

	/**
	 * What becomes of requests, of which those of annotations with limits are allowed.
	 */
	private String consequences() {
		List<String> denied = this.policies.names(OnStoreFailure.DENY);
		List<String> local = this.policies.names(OnStoreFailure.LOCAL);
		StringBuilder text = new StringBuilder("requests are allowed without limits");
		if (!denied.isEmpty()) {
			text.append(", but all those of the policies ").append(denied).append(" are denied");
		}
		if (!local.isEmpty()) {
			text.append(", but those of the policies ").append(local).append(" are limited by this instance alone");
		}
		return text.toString();
	}

	/** With the address, which a refused connection does not name itself. */
	private static String reason(StoreException ex) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(ex);
		String message = (ex.getCause() != null) ? String.valueOf(ex.getCause().getMessage()) : "";
		return message.startsWith("Failed to connect to ") ? message + ": " + root : root.toString();
	}

}
