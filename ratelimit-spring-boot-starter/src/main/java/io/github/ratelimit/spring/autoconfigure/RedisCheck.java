package io.github.ratelimit.spring.autoconfigure;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;

/**
 * Says in the log that Redis cannot be used, once the application is ready: otherwise
 * nobody would know before the first request that nothing is limited. Neither the start
 * nor the health of the application depends on it.
 */
final class RedisCheck implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(RedisCheck.class);

	/** A policy that every store can hold, and that nothing is ever counted by. */
	private static final Policy QUESTION = Policy.of("start", new FixedWindow(), Limit.parse("1/s"));

	private final RateLimiter redis;

	RedisCheck(RateLimiter redis) {
		this.redis = redis;
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
						"Redis cannot be used, so that nothing is limited until it can (policies with 'on-store-failure: deny' deny all requests). Is Redis running, and is ratelimit.redis.url right? {}",
						reason(ex));
			}
		}
	}

	/** With the address, which a refused connection does not name itself. */
	private static String reason(StoreException ex) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(ex);
		String message = (ex.getCause() != null) ? String.valueOf(ex.getCause().getMessage()) : "";
		return message.startsWith("Failed to connect to ") ? message + ": " + root : root.toString();
	}

}
