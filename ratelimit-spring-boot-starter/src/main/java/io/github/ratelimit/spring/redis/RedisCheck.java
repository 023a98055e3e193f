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
 * Says in the log that Redis cannot be used, once the application is ready: otherwise
 * nobody would know before the first request what is not limited. Neither the start nor
 * the health of the application depends on it.
 */
final class RedisCheck implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(RedisCheck.class);

	/** For how long a store that is too busy is asked again. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private static final Duration PAUSE = Duration.ofMillis(50);

	/**
	 * By a policy that every store can hold, with a cost of 0, so that nothing is
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
	 * @param redis what decides on Redis
	 * @param decisions learn that it fails
	 * @param policies say what becomes of requests while it cannot
	 * @param server where Redis is; {@code null} if the client is the application's
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
		// On a thread of its own, because the answer may take the whole time-out.
		Thread thread = new Thread(() -> check(event.getApplicationContext()), "ratelimit-redis-check");
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Asks for a decision. A store that is too busy, as it is where an application has
	 * little of a processor while it starts, is asked again.
	 */
	void check(ConfigurableApplicationContext context) {
		try {
			ask(this.redis, QUESTION, System.nanoTime() + PATIENCE.toNanos());
		}
		catch (StoreException ex) {
			if (!context.isClosed()) {
				this.decisions.outage().noteFailure(QUESTION, ex);
				logger.warn("Redis cannot be used. Until it can, {}. {} {}{}", consequences(), question(ex), tried(),
						ex.reason());
			}
		}
	}

	/**
	 * Asks for a decision, again and again while the store is too busy for it.
	 * @param end until when, by {@link System#nanoTime()}
	 * @throws StoreException if the store failed, or was too busy to the end
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
				// A store without a free connection says so at once.
				LockSupport.parkNanos(PAUSE.toNanos());
			}
		}
	}

	/** What is most likely wrong; what the server says of a missing login is a riddle. */
	private static String question(StoreException ex) {
		return switch (RedisErrorKind.of(ex)) {
			case NOAUTH -> "Redis wants a login: is its password configured?";
			case WRONGPASS -> "Are the user name and password right?";
			case NOPERM -> "Does its user have the permissions that docs/redis.md lists?";
			default -> "Is Redis running, and is ratelimit.redis.url right?";
		};
	}

	/** A server that expects encryption, or none, often does not say so. */
	private String tried() {
		return (this.server == null) ? ""
				: "Tried: %s, %s. ".formatted(this.server, (this.server.ssl() != null) ? "with TLS" : "without TLS");
	}

	/** What happens to requests: local is the default, also of annotations. */
	private String consequences() {
		List<String> allowed = this.policies.names(OnStoreFailure.ALLOW);
		List<String> denied = this.policies.names(OnStoreFailure.DENY);
		StringBuilder text = new StringBuilder("requests are limited by each instance alone");
		if (!allowed.isEmpty()) {
			text.append(", but those of the policies ").append(allowed).append(" are allowed without limits");
		}
		if (!denied.isEmpty()) {
			text.append(", but those of the policies ").append(denied).append(" are denied");
		}
		return text.toString();
	}

}
