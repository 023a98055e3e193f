package io.github.ratelimit.spring;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.ratelimit.outage.OnStoreFailure;

/**
 * The policies of the configuration, by name.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policies the policies of {@code ratelimit.policies}
 * @param defaults what policies are where they do not say otherwise
 * @since 0.1
 */
public record ConfiguredPolicies(Map<String, IdentifiedPolicy> policies, PolicyDefaults defaults) {

	/**
	 * Creates the policies.
	 */
	public ConfiguredPolicies {
		policies = Map.copyOf(policies);
	}

	/**
	 * Creates policies with the library's own defaults, but for the identifiers.
	 * @param policies the policies of {@code ratelimit.policies}
	 * @param defaultIdentifiers the identifiers of policies that name none
	 */
	public ConfiguredPolicies(Map<String, IdentifiedPolicy> policies, List<String> defaultIdentifiers) {
		this(policies, new PolicyDefaults(defaultIdentifiers));
	}

	/**
	 * Returns a policy.
	 * @param name the name of the policy
	 * @return the policy; empty if there is none of that name
	 */
	public Optional<IdentifiedPolicy> find(String name) {
		return Optional.ofNullable(this.policies.get(name));
	}

	/**
	 * Returns the policies whose requests become of something while the store fails.
	 * @param onStoreFailure what becomes of them; policies in shadow mode allow
	 * everything
	 * @return the names, sorted
	 */
	public List<String> names(OnStoreFailure onStoreFailure) {
		return this.policies.entrySet()
			.stream()
			.filter((policy) -> policy.getValue().enforcement().whenStoreFails() == onStoreFailure)
			.map(Map.Entry::getKey)
			.sorted()
			.toList();
	}

}
