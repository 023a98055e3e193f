package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Set;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Refuses a missing-identifier setting that has no effect, because no request can lack an
 * identifier. It runs after all annotations are known, because these may add identifiers.
 */
final class MissingIdentifierCheck implements SmartInitializingSingleton {

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final AnnotatedPolicies annotated;

	MissingIdentifierCheck(RateLimitProperties properties, ConfiguredPolicies policies, AnnotatedPolicies annotated) {
		this.properties = properties;
		this.policies = policies;
		this.annotated = annotated;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.policies.policies().forEach((name, policy) -> {
			PolicyProperties configured = this.properties.policies().get(name);
			String missing = (configured != null) ? configured.missingIdentifier() : null;
			if (missing != null && !policy.enforcement().missing().equals(MissingIdentifier.ADDRESS)
					&& areNeverMissing(policy.identifiers())
					&& this.annotated.byPlace()
						.values()
						.stream()
						.flatMap(Set::stream)
						.filter((annotated) -> annotated.policy().name().equals(name))
						.map(IdentifiedPolicy::identifiers)
						.allMatch(MissingIdentifierCheck::areNeverMissing)) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".missing-identifier"),
						missing,
						"Has no effect, because no request lacks the identifiers %s.".formatted(policy.identifiers()));
			}
		});
	}

	private static boolean areNeverMissing(List<String> identifiers) {
		return identifiers.stream().allMatch(IdentifierNames::isNeverMissing);
	}

}
