package io.github.ratelimit.spring.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.web.PlanResolver;
import io.github.ratelimit.spring.web.UserPlans;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

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

	UserPlans read(@Nullable PlanResolver bean) {
		Duration ttl = this.properties.planCacheTtl();
		if (ttl.isNegative() || ttl.compareTo(LONGEST_TTL) > 0) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan-cache-ttl", ttl,
					"Must be from 0 to 1d.");
		}
		String expression = this.properties.plan();
		Optional<String> policy = policyWithPlans();
		if (expression != null && bean != null) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan", expression,
					"There is a bean of type PlanResolver (%s) as well: remove one of them."
						.formatted(bean.getClass().getName()));
		}
		if (expression != null && policy.isEmpty()) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.plan", expression,
					"Has no effect, because no policy has plans: add ratelimit.policies.NAME.plans.");
		}
		if (expression == null && bean == null) {
			policy.ifPresent((name) -> {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".plans"),
						plans(name).keySet(),
						"Nobody says which plan a user is on: set ratelimit.plan, or provide a PlanResolver bean.");
			});
			return UserPlans.NONE;
		}
		PlanResolver resolver = (expression != null)
				? PolicyReader.read("ratelimit.plan", expression, () -> PlanResolver.ofExpression(expression)) : bean;
		return (resolver != null) ? new UserPlans(resolver, ttl) : UserPlans.NONE;
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
