package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Logs a warning if Redis cannot be used once the application is ready. Otherwise this
 * would not be noticed before the first request. Neither startup nor health depends on
 * this check.
 */
final class RedisCheck implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(RedisCheck.class);

	/** How long to retry if the store is too busy. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private static final Duration PAUSE = Duration.ofMillis(50);

	/**
	 * Uses a policy that every store supports, with a cost of 0, so that nothing is
	 * written.
	 */
	static final RateLimitRequest QUESTION = RateLimitRequest
		.of(new Charge(Policy.of("start", new FixedWindow(), Limit.parse("1/s")), List.of(Identifier.GLOBAL), 0));

	private final RateLimiter redis;

	private final PolicyDecisions decisions;

	private final ConfiguredPolicies policies;

	private final @Nullable RedisServer server;

	/**
	 * Creates a check.
	 * @param redis decides with Redis
	 * @param decisions are notified and log a warning if it fails
	 * @param policies define what happens to requests while it fails
	 * @param server the server; {@code null} if the client is the application's
	 */
	RedisCheck(RateLimiter redis, PolicyDecisions decisions, ConfiguredPolicies policies,
			@Nullable RedisServer server) {
		this.redis = redis;
		this.decisions = decisions;
		this.policies = policies;
		this.server = server;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		// On a separate thread, because the answer may take the whole timeout.
		Thread thread = new Thread(() -> check(event.getApplicationContext()), "ratelimit-redis-check");
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Asks for a decision. Retries if the store is too busy, because an application may
	 * have little CPU time while it starts.
	 */
	void check(ConfigurableApplicationContext context) {
		try {
			ask(this.redis, QUESTION, System.nanoTime() + PATIENCE.toNanos());
		}
		catch (StoreException ex) {
			if (!context.isClosed()) {
				String details = "%s. %s %s%s".formatted(consequences(), question(ex), tried(), ex.reason());
				boolean first = this.decisions.outage().noteFailure(QUESTION, ex, details);
				if (!first && !(ex instanceof StoreBusyException)) {
					// A request has failed before, and has logged less.
					logger.info("Redis cannot be used. {}", details);
				}
			}
		}
	}

	/**
	 * Asks for a decision, and retries while the store is too busy.
	 * @param end when to stop, by {@link System#nanoTime()}
	 * @throws StoreException if the store failed, or was too busy until the end
	 */
	static void ask(RateLimiter redis, RateLimitRequest question, long end) {
		while (true) {
			try {
				redis.tryAcquire(question);
				return;
			}
			catch (StoreBusyException ex) {
				if (System.nanoTime() - end > 0) {
					throw ex;
				}
				// A store without a free connection fails immediately.
				LockSupport.parkNanos(PAUSE.toNanos());
			}
		}
	}

	/** Returns the most likely cause, as the message of the server may not explain it. */
	private static String question(StoreException ex) {
		return switch (RedisErrorKind.of(ex)) {
			case NOAUTH -> "Redis requires a login: is its password configured?";
			case WRONGPASS -> "Are the user name and password right?";
			case NOPERM -> "Does its user have the permissions that docs/redis.md lists?";
			default -> "Is Redis running, and is ratelimit.redis.url right?";
		};
	}

	/** Includes encryption, because a mismatch is often not evident from the error. */
	private String tried() {
		return (this.server == null) ? ""
				: "Tried: %s, %s. ".formatted(this.server, (this.server.ssl() != null) ? "with TLS" : "without TLS");
	}

	/** Returns what happens to requests: local is the default, also for annotations. */
	private String consequences() {
		List<String> allowed = this.policies.names(OnStoreFailure.ALLOW);
		List<String> denied = this.policies.names(OnStoreFailure.DENY);
		StringBuilder text = new StringBuilder("Requests are limited by each instance alone");
		if (!allowed.isEmpty()) {
			text.append(", but those of the policies ").append(allowed).append(" are allowed without limits");
		}
		if (!denied.isEmpty()) {
			text.append(", but those of the policies ").append(denied).append(" are denied");
		}
		return text.toString();
	}

}
