package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.outage.OnStoreFailure;

/**
 * The policies of the configuration, by name.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policies the policies of {@code ratelimit.policies}
 * @param defaults the defaults for what policies do not set
 * @since 0.1
 */
public record ConfiguredPolicies(Map<String, IdentifiedPolicy> policies, Defaults defaults) {

	public ConfiguredPolicies {
		policies = Map.copyOf(policies);
	}

	/** Creates policies with the defaults of the library, except for the identifiers. */
	public ConfiguredPolicies(Map<String, IdentifiedPolicy> policies, List<String> defaultIdentifiers) {
		this(policies, new Defaults(defaultIdentifiers));
	}

	/** Returns the policy of a name; empty if there is none. */
	public Optional<IdentifiedPolicy> find(String name) {
		return Optional.ofNullable(this.policies.get(name));
	}

	/**
	 * Returns the names of the policies that handle requests in a given way while the
	 * store fails, sorted. Policies in shadow mode allow everything.
	 */
	public List<String> names(OnStoreFailure onStoreFailure) {
		return this.policies.entrySet()
			.stream()
			.filter((policy) -> policy.getValue().enforcement().whenStoreFails() == onStoreFailure)
			.map(Map.Entry::getKey)
			.sorted()
			.toList();
	}

	/**
	 * The defaults for what a policy does not set: {@code ratelimit.defaults}.
	 * <p>
	 * A value; safe for use by several threads.
	 *
	 * @param identifiers at least one identifier as in configuration
	 * @param algorithm how requests are counted
	 * @param countDenied whether denied requests count as well
	 * @param enforcement how policies are enforced
	 */
	public record Defaults(List<String> identifiers, Algorithm algorithm, boolean countDenied,
			Enforcement enforcement) {

		public Defaults {
			identifiers = List.copyOf(identifiers);
		}

		/** Creates the defaults of the library, except for the identifiers. */
		public Defaults(List<String> identifiers) {
			this(identifiers, new SlidingWindow(), false, Enforcement.DEFAULT);
		}

	}

}
