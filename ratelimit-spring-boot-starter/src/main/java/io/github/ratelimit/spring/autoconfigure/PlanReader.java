package io.github.ratelimit.spring.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.web.PlanResolver;
import io.github.ratelimit.spring.web.UserPlans;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes the plans of users of properties, and refuses those that could have no effect.
 */
final class PlanReader {

	private static final Duration LONGEST_TTL = Duration.ofDays(1);

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	PlanReader(RateLimitProperties properties, ConfiguredPolicies policies) {
		this.properties = properties;
		this.policies = policies;
	}

	/**
	 * Reads the plans.
	 * @param bean supplies the resolver that is a bean, if there is one
	 * @param names the names of the beans that are resolvers
	 */
	UserPlans read(Supplier<PlanResolver> bean, String... names) {
		Duration ttl = this.properties.planCacheTtl();
		if (ttl.isNegative() || ttl.compareTo(LONGEST_TTL) > 0) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan-cache-ttl", ttl,
					"Must be from 0 to 1d.");
		}
		Optional<String> policy = policyWithPlans();
		String expression = this.properties.plan();
		if (expression == null) {
			if (names.length == 0) {
				policy.ifPresent(this::refuseWithoutResolver);
				return UserPlans.NONE;
			}
			SingletonSupplier<PlanResolver> resolver = SingletonSupplier.of(bean);
			return new UserPlans((user, request) -> resolver.obtain().resolve(user, request), ttl);
		}
		if (names.length > 0) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan", expression,
					"There is a PlanResolver bean as well (%s): remove one of them."
						.formatted(String.join(", ", names)));
		}
		if (policy.isEmpty()) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan", expression,
					"Has no effect, because no policy has plans: add ratelimit.policies.NAME.plans.");
		}
		return new UserPlans(
				PolicyReader.read("ratelimit.plan", expression, () -> PlanResolver.ofExpression(expression)), ttl);
	}

	private void refuseWithoutResolver(String policy) {
		throw new InvalidConfigurationPropertyValueException(PolicyReader.property(policy, ".plans"),
				plans(policy).keySet(),
				"Nobody says which plan a user is on: set ratelimit.plan, or provide a PlanResolver bean.");
	}

	/** Refuses plans where there are no web requests, and so no users. */
	void requireNone() {
		policyWithPlans().ifPresent((name) -> {
			throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".plans"),
					plans(name).keySet(), "Users have plans only in a Servlet web application.");
		});
		if (this.properties.plan() != null) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan", this.properties.plan(),
					"Users have plans only in a Servlet web application.");
		}
	}

	private Optional<String> policyWithPlans() {
		return this.policies.policies().keySet().stream().sorted().filter((name) -> !plans(name).isEmpty()).findFirst();
	}

	private Map<String, ?> plans(String policy) {
		return this.policies.find(policy).orElseThrow().plans();
	}

}
