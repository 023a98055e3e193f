package io.github.ratelimit.spring.web;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitProperties;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * What the quotas of policies count where that is not requests, as
 * draft-ietf-httpapi-ratelimit-headers-11 names it.
 */
final class QuotaUnits {

	private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,31}");

	private static final String REQUESTS = "requests";

	/** Names of the draft for what others call by another name. */
	private static final Map<String, String> REGISTERED = Map.of("bytes", "content-bytes", "request", REQUESTS);

	private QuotaUnits() {
	}

	/**
	 * Reads the units of policies.
	 * @return the units by the names of the policies; those that count requests have none
	 * @throws InvalidConfigurationPropertyValueException if a unit cannot be written
	 */
	static Map<String, String> read(RateLimitProperties properties) {
		Map<String, String> units = new HashMap<>();
		properties.policies().forEach((policy, policyProperties) -> {
			String name = policyProperties.unit();
			if (name == null) {
				return;
			}
			if (!NAME.matcher(name).matches()) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(policy, ".unit"), name,
						"Must be a word of at most 32 lower-case letters, digits and hyphens, such as bytes or tokens.");
			}
			String unit = REGISTERED.getOrDefault(name, name);
			if (!unit.equals(REQUESTS)) {
				units.put(policy, unit);
			}
		});
		return units;
	}

}
