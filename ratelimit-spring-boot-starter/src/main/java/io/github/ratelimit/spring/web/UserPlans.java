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
 * The plans of the users that make requests. What a resolver says of a user is kept for a
 * time, by the user's name; a failure is not. Within a request the plan does not change.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class UserPlans {

	private static final Logger logger = LoggerFactory.getLogger(UserPlans.class);

	private static final String ATTRIBUTE = UserPlans.class.getName();

	private static final int MOST_USERS = 10_000;

	/** How long there must have been no failure until plans are known again. */
	private static final Duration CALM = Duration.ofMinutes(1);

	private final PlanResolver resolver;

	private final @Nullable Cache<String, Optional<String>> cache;

	private final Ticker ticker;

	private final AtomicBoolean failing = new AtomicBoolean();

	private volatile long lastFailure;

	/**
	 * Creates plans.
	 * @param resolver finds out which plan a user is on
	 * @param ttl how long to keep what it says of a user; zero for no longer than the
	 * request
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
	 * Creates plans that nobody is on. If policies have plans all the same, the log says
	 * once what is missing.
	 * @return new plans
	 */
	public static UserPlans none() {
		AtomicBoolean said = new AtomicBoolean();
		return new UserPlans((user, request) -> {
			if (said.compareAndSet(false, true)) {
				logger.warn("A PolicySource gives policies plans, but nobody says which plan a user is on, so that the"
						+ " limits without a plan count: set ratelimit.plan, or provide a PlanResolver bean");
			}
			return null;
		}, Duration.ZERO);
	}

	/** Name of the plan of who makes the request; null for nobody, and for no plan. */
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

	/** Does not hold a lock of the cache while the resolver takes its time. */
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

	/** A resolver that fails for some users only is not known to be well again. */
	private void answered() {
		if (this.failing.get() && this.ticker.read() - this.lastFailure >= CALM.toNanos()
				&& this.failing.compareAndSet(true, false)) {
			logger.info("The plans of users are known again");
		}
	}

	/** Without the message, which may name the user. */
	private void failed(RuntimeException ex) {
		this.lastFailure = this.ticker.read();
		if (this.failing.compareAndSet(false, true)) {
			logger.warn("The plans of users are not known, so that the limits without a plan count: {}",
					ex.getClass().getName());
			logger.trace("The plan of a user is not known", ex);
		}
	}

	private record Found(String user, @Nullable String plan) {

	}

}
