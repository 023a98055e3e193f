package io.github.ratelimit.spring.actuate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.AnnotatedPolicy;
import io.github.ratelimit.spring.IdentifiedPolicy;

/**
 * What the endpoint says of policies.
 *
 * @param policies the policies by name
 * @param methods the methods and types with annotations
 */
record RateLimitsDescriptor(Map<String, PolicyDescriptor> policies, List<MethodDescriptor> methods) {

	static RateLimitsDescriptor of(KnownPolicies known) {
		Map<String, PolicyDescriptor> policies = new LinkedHashMap<>();
		known.all().forEach((name, policy) -> policies.put(name, PolicyDescriptor.of(policy)));
		return new RateLimitsDescriptor(policies, known.annotated().stream().map(MethodDescriptor::of).toList());
	}

	/**
	 * A policy.
	 */
	record PolicyDescriptor(String algorithm, List<String> limits, List<String> identifiers, boolean countDenied,
			String mode, String onStoreFailure) {

		static PolicyDescriptor of(IdentifiedPolicy identified) {
			Policy policy = identified.policy();
			return new PolicyDescriptor(policy.algorithm().name(),
					policy.limits().stream().map(Limit::toString).toList(), identified.identifiers(),
					policy.countDenied(), text(identified.enforcement().mode()),
					text(identified.enforcement().onStoreFailure()));
		}

		private static String text(Enum<?> value) {
			return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

	/**
	 * A method or type with an annotation.
	 */
	record MethodDescriptor(String method, String policy, List<String> identifiers) {

		static MethodDescriptor of(AnnotatedPolicy annotated) {
			return new MethodDescriptor(annotated.place(), annotated.policy().policy().name(),
					annotated.policy().identifiers());
		}

	}

}
