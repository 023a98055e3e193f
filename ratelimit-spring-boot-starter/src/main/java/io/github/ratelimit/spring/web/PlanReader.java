package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads how the plans of users are found, and rejects properties without effect.
 */
final class PlanReader {

	private static final Logger logger = LoggerFactory.getLogger(PlanReader.class);

	private static final String TTL = "ratelimit.plan-cache-ttl";

	private static final Duration LONGEST_TTL = Duration.ofDays(1);

	private static final String NO_PLANS = "Has no effect, because no policy has plans: add ratelimit.policies.NAME.plans.";

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final Environment environment;

	PlanReader(RateLimitProperties properties, ConfiguredPolicies policies, Environment environment) {
		this.properties = properties;
		this.policies = policies;
		this.environment = environment;
	}

	/**
	 * Reads the plans.
	 * @param changing whether there is a bean that may add plans to policies
	 * @param bean supplies the resolver that is a bean, if there is one
	 * @param names the names of the beans that are resolvers
	 */
	UserPlans read(boolean changing, Supplier<PlanResolver> bean, String... names) {
		Duration ttl = this.properties.planCacheTtl();
		if (ttl.isNegative() || ttl.compareTo(LONGEST_TTL) > 0) {
			throw new InvalidConfigurationPropertyValueException(TTL, ttl, "Must be from 0 to 1d.");
		}
		Optional<String> policy = policyWithPlans();
		String expression = this.properties.plan();
		if (policy.isEmpty() && !changing) {
			reject("ratelimit.plan", expression, NO_PLANS);
			reject(TTL, timeToLive(), NO_PLANS);
		}
		if (expression == null) {
			if (names.length == 0) {
				policy.ifPresent(this::rejectMissingResolver);
				return UserPlans.none();
			}
			SingletonSupplier<PlanResolver> resolver = SingletonSupplier.of(bean);
			return new UserPlans((user, request) -> resolver.obtain().resolve(user, request), ttl);
		}
		if (names.length > 0) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan", expression,
					"There is a PlanResolver bean as well (%s): remove one of them."
						.formatted(String.join(", ", names)));
		}
		ReadOnlyExpression plan = PolicyReader.read("ratelimit.plan", expression,
				() -> RequestVariables.parse(expression));
		if (!ttl.isZero() && plan.variables().contains(RequestVariables.REQUEST)) {
			logger.warn(
					"ratelimit.plan reads #request, but {} is {}: the plan of a user's first request applies to all"
							+ " requests of that user in this time. Set {} to 0 if the plan differs between requests",
					TTL, ttl, TTL);
		}
		return new UserPlans(resolver(plan), ttl);
	}

	/** Returns a resolver that evaluates an expression. */
	static PlanResolver resolver(ReadOnlyExpression expression) {
		return (user, request) -> expression.evaluate(RequestVariables.of(request, user), String.class);
	}

	private void rejectMissingResolver(String policy) {
		throw new InvalidConfigurationPropertyValueException(PolicyReader.property(policy, ".plans"),
				plans(policy).keySet(),
				"The plans of users are unknown: set ratelimit.plan, or provide a PlanResolver bean.");
	}

	/** Returns the time to live as written; {@code null} if it is not configured. */
	private @Nullable String timeToLive() {
		return Binder.get(this.environment).bind(TTL, String.class).orElse(null);
	}

	private static void reject(String property, @Nullable String value, String reason) {
		if (value != null) {
			throw new InvalidConfigurationPropertyValueException(property, value, reason);
		}
	}

	private Optional<String> policyWithPlans() {
		return this.policies.policies().keySet().stream().sorted().filter((name) -> !plans(name).isEmpty()).findFirst();
	}

	private Map<String, ?> plans(String policy) {
		return this.policies.find(policy).orElseThrow().plans();
	}

}
