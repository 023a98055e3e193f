package io.github.ratelimit.spring.policy;

import java.util.Collection;

import io.github.ratelimit.spring.ConfiguredPolicies;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of rate limiting for applications that are not Servlet applications:
 * methods can be limited, paths cannot.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class,
		afterName = "io.github.ratelimit.spring.web.RateLimitWebAutoConfiguration")
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(PolicyEnforcer.class)
public final class RateLimitNonWebAutoConfiguration {

	@Bean
	PolicyEnforcer rateLimitPolicyEnforcer(PolicyDecisions decisions, RateLimitProperties properties,
			ConfiguredPolicies policies, Environment environment) {
		requireNoPlans(properties, policies, environment);
		properties.policies().forEach((name, policy) -> {
			if (!policy.paths().isEmpty() || !policy.routes().isEmpty()) {
				throw new InvalidConfigurationPropertyValueException(
						PolicyReader.property(name, policy.paths().isEmpty() ? ".routes" : ".paths"),
						policy.paths().isEmpty() ? policy.routes() : policy.paths(),
						"Paths can be limited only in a Servlet web application.");
			}
			if (policy.countWhen() != null) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".count-when"),
						policy.countWhen(), "Responses can be counted only in a Servlet web application.");
			}
			requireNoRequest(PolicyReader.property(name, ".when"), policy.when());
			requireNoRequest(PolicyReader.property(name, ".unless"), policy.unless());
			requireAddress(PolicyReader.property(name, ".missing-identifier"), policy.missingIdentifier());
		});
		requireAddress("ratelimit.defaults.missing-identifier", properties.defaults().missingIdentifier());
		properties.policies()
			.forEach((name, policy) -> refuse(PolicyReader.property(name, ".exclude"), policy.exclude()));
		refuse("ratelimit.exclude", properties.exclude());
		refuse("ratelimit.allow", properties.allow());
		refuse("ratelimit.deny", properties.deny());
		refuse("ratelimit.ip.trusted-proxies", properties.ip().trustedProxies());
		refuse("ratelimit.identifiers", properties.identifiers().keySet());
		return PolicyEnforcer.withoutRequests(decisions);
	}

	private static void requireAddress(String property, @Nullable String missing) {
		requireNoRequest(property, IdentifierNames.ADDRESS.equals(missing) ? null : missing);
	}

	private static void requireNoRequest(String property, @Nullable String value) {
		if (value != null) {
			throw new InvalidConfigurationPropertyValueException(property, value,
					"Conditions on requests can be used only in a Servlet web application.");
		}
	}

	private static void requireNoPlans(RateLimitProperties properties, ConfiguredPolicies policies,
			Environment environment) {
		policies.policies().forEach((name, policy) -> {
			if (!policy.plans().isEmpty()) {
				throw withoutUsers(PolicyReader.property(name, ".plans"), policy.plans().keySet());
			}
		});
		if (properties.plan() != null) {
			throw withoutUsers("ratelimit.plan", properties.plan());
		}
		String ttl = "ratelimit.plan-cache-ttl";
		Binder.get(environment).bind(ttl, String.class).ifBound((value) -> {
			throw withoutUsers(ttl, value);
		});
	}

	private static InvalidConfigurationPropertyValueException withoutUsers(String property, Object value) {
		return new InvalidConfigurationPropertyValueException(property, value,
				"Plans can be used only in a Servlet web application.");
	}

	private static void refuse(String property, Collection<String> values) {
		if (!values.isEmpty()) {
			// Without the values, which may be secrets.
			throw new HiddenValueException(property, "***", "Has an effect only in a Servlet web application.");
		}
	}

}
