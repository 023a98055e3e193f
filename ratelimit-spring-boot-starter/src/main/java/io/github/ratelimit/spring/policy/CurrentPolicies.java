package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicySource;

import org.springframework.util.function.SingletonSupplier;

/**
 * The policies as they are to be enforced now, as all sources say.
 */
final class CurrentPolicies implements PolicySource {

	private final SingletonSupplier<List<PolicySource>> sources;

	/**
	 * Creates policies.
	 * @param sources supplies the sources, one after another; asked only once, and late
	 * @param requireSupported refuses a policy that the store cannot hold
	 */
	CurrentPolicies(Supplier<List<PolicySource>> sources, Consumer<Policy> requireSupported) {
		this.sources = SingletonSupplier.of(() -> sources.get()
			.stream()
			.<PolicySource>map((source) -> new CheckedPolicySource(source, requireSupported, System::nanoTime))
			.toList());
	}

	@Override
	public IdentifiedPolicy current(IdentifiedPolicy configured, Caller caller) {
		IdentifiedPolicy policy = configured;
		for (PolicySource source : this.sources.obtain()) {
			policy = source.current(policy, caller);
		}
		return policy;
	}

}
