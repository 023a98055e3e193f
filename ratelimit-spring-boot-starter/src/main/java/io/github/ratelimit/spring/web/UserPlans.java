package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.spring.PlanResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plans of users. The result of the resolver is cached for a time, by the name of the
 * user; failures are not. Within a request, the plan of a user does not change.
 * <p>
 * Safe for use by several threads.
 */
final class UserPlans {

	private static final Logger logger = LoggerFactory.getLogger(UserPlans.class);

	private static final String ATTRIBUTE = UserPlans.class.getName();

	private static final int MOST_USERS = 10_000;

	/** Time without failures after which the resolver counts as working again. */
	private static final Duration CALM = Duration.ofMinutes(1);

	private final PlanResolver resolver;

	private final @Nullable Cache<String, Optional<String>> cache;

	private final Ticker ticker;

	private final AtomicBoolean failing = new AtomicBoolean();

	private volatile long lastFailure;

	/**
	 * Creates plans.
	 * @param resolver finds the plan of a user
	 * @param ttl time for which to cache the plan of a user; zero to cache it only for
	 * the request
	 */
	public UserPlans(PlanResolver resolver, Duration ttl) {
		this(resolver, ttl, Ticker.systemTicker());
	}

	UserPlans(PlanResolver resolver, Duration ttl, Ticker ticker) {
		this.resolver = resolver;
		this.ticker = ticker;
		this.cache = ttl.isZero() ? null
				: Caffeine.newBuilder().maximumSize(MOST_USERS).expireAfterWrite(ttl).ticker(ticker).build();
	}

	/**
	 * Creates an instance for applications without a resolver, in which no user has a
	 * plan. If policies have plans nevertheless, this is logged once.
	 * @return a new instance
	 */
	public static UserPlans none() {
		AtomicBoolean warned = new AtomicBoolean();
		return new UserPlans((user, request) -> {
			if (warned.compareAndSet(false, true)) {
				logger.warn("A PolicySource returned a policy with plans, but the plans of users are unknown, so that"
						+ " the limits without a plan apply: set ratelimit.plan, or provide a PlanResolver bean");
			}
			return null;
		}, Duration.ZERO);
	}

	/** Returns the plan of the user; null if there is no user, or the user has none. */
	@Nullable String find(HttpServletRequest request) {
		Principal user = request.getUserPrincipal();
		String name = (user != null) ? user.getName() : null;
		if (user == null || name == null) {
			return null;
		}
		if (request.getAttribute(ATTRIBUTE) instanceof Found found && found.user.equals(name)) {
			return found.plan;
		}
		String plan = find(user, name, request);
		request.setAttribute(ATTRIBUTE, new Found(name, plan));
		return plan;
	}

	/** Does not hold a lock of the cache while it calls the resolver. */
	private @Nullable String find(Principal user, String name, HttpServletRequest request) {
		Optional<String> known = (this.cache != null) ? this.cache.getIfPresent(name) : null;
		if (known != null) {
			return known.orElse(null);
		}
		try {
			Optional<String> plan = Optional.ofNullable(this.resolver.resolve(user, request))
				.filter((text) -> !text.isEmpty());
			if (this.cache != null) {
				this.cache.put(name, plan);
			}
			answered();
			return plan.orElse(null);
		}
		catch (RuntimeException ex) {
			failed(ex);
			return null;
		}
	}

	/** Waits, because a resolver may fail for some users only. */
	private void answered() {
		if (this.failing.get() && this.ticker.read() - this.lastFailure >= CALM.toNanos()
				&& this.failing.compareAndSet(true, false)) {
			logger.info("The plans of users are known again");
		}
	}

	/** Omits the message of the exception, which may contain the name of the user. */
	private void failed(RuntimeException ex) {
		this.lastFailure = this.ticker.read();
		if (this.failing.compareAndSet(false, true)) {
			logger.warn("The plans of users are not known, so that the limits without a plan apply: {}",
					CustomIdentifier.reason(ex));
			logger.trace("The plan of a user is not known", ex);
		}
	}

	private record Found(String user, @Nullable String plan) {

	}

}
