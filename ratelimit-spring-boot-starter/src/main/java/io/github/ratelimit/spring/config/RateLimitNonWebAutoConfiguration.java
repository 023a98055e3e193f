package io.github.ratelimit.spring.config;

import java.util.Map;
import java.util.Set;

import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.ThreadEnforcer;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

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

	private static final Set<String> OF_REQUESTS = Set.of("exclude", "plan", "identifiers", "allow", "deny");

	@Bean
	PolicyEnforcer rateLimitPolicyEnforcer(Decider decider, RateLimitProperties properties) {
		properties.policies().forEach((name, policy) -> SetOptions.of(policy).forEach((option, value) -> {
			if (PolicySettings.option(option).web() && !value.equals(IdentifierNames.ADDRESS)) {
				throw refusal(PolicyReader.property(name, "." + option),
						(value instanceof Map<?, ?> groups) ? groups.keySet() : SetOptions.part(value));
			}
		}));
		SetOptions.of(properties).forEach((option, value) -> {
			if (OF_REQUESTS.contains(option)) {
				// The values may be secrets.
				throw refusal("ratelimit." + option, "***");
			}
		});
		String missing = properties.defaults().missingIdentifier();
		if (!missing.equals(IdentifierNames.ADDRESS)) {
			throw refusal("ratelimit.defaults.missing-identifier", missing);
		}
		if (!properties.ip().trustedProxies().isEmpty()) {
			throw refusal("ratelimit.ip.trusted-proxies", properties.ip().trustedProxies());
		}
		return new ThreadEnforcer(decider);
	}

	private static HiddenValueException refusal(String property, Object value) {
		return new HiddenValueException(property, value.toString(), "Has an effect only in a Servlet web application.");
	}

}
