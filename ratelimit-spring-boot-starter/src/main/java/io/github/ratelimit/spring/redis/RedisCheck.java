package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.config.HiddenValueException;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Asks Redis before the first request does. While other beans are created, it connects,
 * loads classes and composes a script for each configured policy; the start waits for it
 * for at most two seconds. Policies that are decided together, or in parts, need more
 * scripts later. The start fails if the server turns out to be a node of a cluster, or a
 * sentinel, and with {@code fail-fast} if Redis cannot be used, for which it waits
 * longer. Once the application is ready, a warning is logged if Redis cannot be used.
 */
final class RedisCheck implements InitializingBean, SmartInitializingSingleton,
		ApplicationListener<ApplicationReadyEvent>, DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(RedisCheck.class);

	private static final Duration WARM_UP = Duration.ofSeconds(2);

	/**
	 * How long to retry if the store is too busy, also for a start that depends on it.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private static final Duration PAUSE = Duration.ofMillis(50);

	/**
	 * A policy that every store supports, with a cost of 0, so that nothing is written.
	 */
	private static final RateLimitRequest QUESTION = RateLimitRequest
		.of(new Charge(Policy.of("start", new FixedWindow(), Limit.parse("1/s")), List.of(Identifier.GLOBAL), 0));

	private final RedisConnections connections;

	private final RateLimiter redis;

	private final Decider decider;

	private final ConfiguredPolicies policies;

	private final @Nullable RedisServer server;

	private final boolean failFast;

	private final Thread warmUp = new Thread(this::warmUp, "ratelimit-redis-check");

	private volatile @Nullable Thread check;

	/** Why the start fails. */
	private volatile @Nullable RuntimeException refusal;

	/**
	 * @param server the server; {@code null} if the client is the application's
	 * @param failFast whether the start fails if Redis cannot be used
	 */
	RedisCheck(RedisConnections connections, RateLimiter redis, Decider decider, ConfiguredPolicies policies,
			@Nullable RedisServer server, boolean failFast) {
		this.connections = connections;
		this.redis = redis;
		this.decider = decider;
		this.policies = policies;
		this.server = server;
		this.failFast = failFast;
		// Until more is known.
		this.refusal = failFast ? new RedisUnusableException("It does not answer.", server,
				Diagnosis.advice(RedisErrorKind.TIMEOUT, server), null) : null;
	}

	@Override
	public void afterPropertiesSet() {
		this.warmUp.setDaemon(true);
		this.warmUp.start();
	}

	@Override
	public void afterSingletonsInstantiated() {
		try {
			// With fail-fast there is time to find out what is wrong.
			this.warmUp.join(this.failFast ? 2 * PATIENCE.toMillis() : WARM_UP.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		// From now on no request waits for longer than its time, even if Redis has not
		// been connected to.
		this.connections.connect(Duration.ZERO);
		RuntimeException refusal = this.refusal;
		if (refusal != null) {
			throw refusal;
		}
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		// On a separate thread, because an answer may take the whole timeout.
		Thread thread = new Thread(() -> check(event.getApplicationContext()), this.warmUp.getName());
		thread.setDaemon(true);
		this.check = thread;
		thread.start();
	}

	/** Ends a question to the source of the login. */
	@Override
	public void destroy() {
		this.warmUp.interrupt();
		Thread check = this.check;
		if (check != null) {
			check.interrupt();
		}
	}

	private void warmUp() {
		Duration patience = this.failFast ? PATIENCE : WARM_UP;
		try {
			if (this.server != null) {
				new Diagnosis(this.server).requireSingleServer();
			}
			long end = System.nanoTime() + patience.toNanos();
			this.connections.connect(patience);
			ask(QUESTION, end);
			this.policies.policies().values().forEach((policy) -> ask(question(policy), end));
			this.refusal = null;
		}
		catch (HiddenValueException ex) {
			this.refusal = ex;
		}
		catch (RuntimeException ex) {
			logger.debug("Redis cannot be used yet", ex);
			StoreException failure = failure(ex);
			this.refusal = this.failFast ? new RedisUnusableException(failure.reason(), this.server,
					Diagnosis.of(failure, this.server), failure) : null;
		}
	}

	/** Returns why there was no decision, whoever failed to make it. */
	private static StoreException failure(RuntimeException ex) {
		return (ex instanceof StoreException failure) ? failure : new StoreException("No decision was made", ex);
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

	void check(ConfigurableApplicationContext context) {
		try {
			ask(QUESTION, System.nanoTime() + PATIENCE.toNanos());
		}
		catch (RuntimeException ex) {
			if (!context.isClosed()) {
				StoreException failure = failure(ex);
				String details = "%s. %s %s%s".formatted(consequences(), Diagnosis.of(failure, this.server), tried(),
						failure.reason());
				boolean first = this.decider.outage().noteFailure(QUESTION, failure, details);
				if (!first && !(failure instanceof StoreBusyException)) {
					// A request has failed before, and has logged less.
					logger.info("Redis cannot be used. {}", details);
				}
			}
		}
	}

	/**
	 * Asks for a decision, and retries while the store is too busy, because an
	 * application may have little CPU time while it starts.
	 * @param end when to stop, by {@link System#nanoTime()}
	 */
	private void ask(RateLimitRequest question, long end) {
		while (true) {
			try {
				this.redis.tryAcquire(question);
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

	private String tried() {
		return (this.server == null) ? "" : "Tried: %s. ".formatted(this.server.connection());
	}

	/** Returns what happens to requests: local is the default, also for annotations. */
	private String consequences() {
		List<String> allowed = this.policies.names(OnStoreFailure.ALLOW);
		List<String> denied = this.policies.names(OnStoreFailure.DENY);
		return "Requests are limited by each instance alone"
				+ (allowed.isEmpty() ? ""
						: ", but those of the policies %s are allowed without limits".formatted(allowed))
				+ (denied.isEmpty() ? "" : ", but those of the policies %s are denied".formatted(denied));
	}

}
