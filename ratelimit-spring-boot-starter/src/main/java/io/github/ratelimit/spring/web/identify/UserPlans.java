package io.github.ratelimit.spring.web.identify;

import java.security.Principal;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.LoggedOnce;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.function.SingletonSupplier;

/**
 * The plans of users. The result of the resolver is cached for a time, by the name of the
 * user; failures are not. Within a request, the plan of a user does not change.
 * <p>
 * Safe for use by several threads.
 */
public final class UserPlans {

	private static final Logger logger = LoggerFactory.getLogger(UserPlans.class);

	private static final String ATTRIBUTE = UserPlans.class.getName();

	private static final String PLAN = "ratelimit.plan";

	private static final String TTL = "ratelimit.plan-cache-ttl";

	private static final Duration LONGEST_TTL = Duration.ofDays(1);

	private static final int MOST_USERS = 10_000;

	private final LoggedOnce warnings = new LoggedOnce(UserPlans.class);

	private final @Nullable PlanResolver resolver;

	private final Consumer<String> found;

	private final @Nullable Cache<String, Optional<String>> cache;

	/**
	 * Creates plans.
	 * @param resolver finds the plan of a user; {@code null} if no user has one
	 * @param ttl time for which to cache the plan of a user; zero to cache it only for
	 * the request
	 * @param found is told of each plan that the resolver returns
	 */
	UserPlans(@Nullable PlanResolver resolver, Duration ttl, Consumer<String> found, Ticker ticker) {
		this.resolver = resolver;
		this.found = found;
		this.cache = ttl.isZero() ? null
				: Caffeine.newBuilder().maximumSize(MOST_USERS).expireAfterWrite(ttl).ticker(ticker).build();
	}

	/**
	 * Reads how the plans of users are found.
	 * @param found is told of each plan of a user
	 * @param beans may have a resolver
	 */
	public static UserPlans read(RateLimitProperties properties, ConfiguredPolicies policies, Consumer<String> found,
			ListableBeanFactory beans) {
		Duration ttl = properties.planCacheTtl();
		if (ttl.isNegative() || ttl.compareTo(LONGEST_TTL) > 0) {
			throw new InvalidConfigurationPropertyValueException(TTL, ttl, "Must be from 0 to 1d.");
		}
		String expression = properties.plan();
		String[] names = beans.getBeanNamesForType(PlanResolver.class, true, false);
		if (expression != null && names.length > 0) {
			throw new InvalidConfigurationPropertyValueException(PLAN, expression,
					"There is a PlanResolver bean as well (%s): remove one of them."
						.formatted(String.join(", ", names)));
		}
		PlanResolver resolver = null;
		if (expression != null) {
			resolver = read(expression, ttl);
		}
		else if (names.length > 0) {
			SingletonSupplier<PlanResolver> supplier = SingletonSupplier.of(() -> beans.getBean(PlanResolver.class));
			resolver = (user, request) -> supplier.obtain().resolve(user, request);
		}
		else {
			requireNoPlans(policies);
		}
		return new UserPlans(resolver, ttl, found, Ticker.systemTicker());
	}

	private static PlanResolver read(String expression, Duration ttl) {
		RequestExpression plan = PolicyReader.read(PLAN, expression, () -> new RequestExpression(expression));
		if (!ttl.isZero() && !plan.isOfUserAlone()) {
			logger.warn(
					"{} reads the request, but {} is {}: the plan of a user's first request applies to all"
							+ " requests of that user in this time. Set {} to 0 if the plan differs between requests",
					PLAN, TTL, ttl, TTL);
		}
		return (user, request) -> plan.evaluate(request, user, String.class);
	}

	private static void requireNoPlans(ConfiguredPolicies policies) {
		policies.policies().forEach((name, policy) -> {
			if (!policy.plans().isEmpty()) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".plans"),
						policy.plans().keySet(),
						"The plans of users are unknown: set ratelimit.plan, or provide a PlanResolver bean.");
			}
		});
	}

	/** Returns the plan of the user, if the plans of users are known. */
	public @Nullable String findIfKnown(HttpServletRequest request) {
		return (this.resolver != null) ? find(request) : null;
	}

	/** Returns the plan of the user; null if there is no user, or the user has none. */
	public @Nullable String find(HttpServletRequest request) {
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
		if (this.resolver == null) {
			warn("a PolicySource returned a policy with plans, but there is neither ratelimit.plan nor a PlanResolver");
			return null;
		}
		try {
			Optional<String> plan = Optional.ofNullable(this.resolver.resolve(user, request))
				.filter((text) -> !text.isEmpty());
			if (this.cache != null) {
				this.cache.put(name, plan);
			}
			plan.ifPresent(this.found);
			return plan.orElse(null);
		}
		catch (RuntimeException ex) {
			// The message may contain the name of the user.
			warn(RequestExpression.reason(ex));
			logger.trace("The plan of a user is not known", ex);
			return null;
		}
	}

	private void warn(String reason) {
		this.warnings.warn(reason,
				"The plans of users are not known, so that the limits without a plan apply: {}. This is logged once",
				reason);
	}

	private record Found(String user, @Nullable String plan) {

	}

}
