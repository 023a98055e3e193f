package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

/**
 * The current policies of the configuration and of the annotations found so far.
 */
record KnownPolicies(ConfiguredPolicies configured, ObjectProvider<AnnotatedPolicies> annotations, Decider decider) {

	/** Identifiers that any policy may count by if a request has none of its own. */
	private static final List<String> FALLBACKS = List.of(IdentifierNames.ADDRESS, IdentifierNames.GLOBAL);

	/** Returns all policies by name. */
	Map<String, IdentifiedPolicy> all() {
		Map<String, IdentifiedPolicy> all = new TreeMap<>(this.configured.policies());
		annotated().forEach((policy) -> all.putIfAbsent(policy.policy().name(), policy));
		all.replaceAll((name, policy) -> this.decider.current(policy));
		return all;
	}

	/** Returns the policies of annotated methods and types, by their names. */
	Map<String, Set<IdentifiedPolicy>> byPlace() {
		return AnnotatedPolicies.byPlace(this.annotations);
	}

	private Stream<IdentifiedPolicy> annotated() {
		return byPlace().values().stream().flatMap(Set::stream);
	}

	/**
	 * Returns the policies that count an identifier, or the one of a name; refuses none.
	 */
	List<IdentifiedPolicy> counting(Identifier identifier, @Nullable String name) {
		String type = identifier.type();
		if (name != null) {
			IdentifiedPolicy policy = require(name);
			if (!FALLBACKS.contains(type) && !types(name).contains(type)) {
				throw invalid("identifier", identifier,
						"the policy '%s' counts by %s".formatted(name, String.join(", ", types(name))));
			}
			return List.of(policy);
		}
		List<IdentifiedPolicy> policies = all().values()
			.stream()
			.filter((policy) -> types(policy.policy().name()).contains(type))
			.toList();
		if (policies.isEmpty()) {
			throw invalid("identifier", identifier, "no policy counts by " + type);
		}
		return policies;
	}

	IdentifiedPolicy require(String name) {
		Map<String, IdentifiedPolicy> all = all();
		IdentifiedPolicy policy = all.get(name);
		if (policy == null) {
			throw invalid("policy", name, "must be one of " + all.keySet());
		}
		return policy;
	}

	/**
	 * Parses the text form of an identifier, {@code type:value}. Both may contain colons,
	 * because the types that policies count by are known.
	 */
	Identifier parse(String text) {
		Set<String> types = new TreeSet<>(FALLBACKS);
		all().keySet().forEach((policy) -> types.addAll(types(policy)));
		Identifier identifier = IdentifierNames.withValue(text, types);
		if (identifier == null) {
			throw invalid("identifier", text, "must be global or type:value, where the type is one of " + types);
		}
		return identifier;
	}

	private Set<String> types(String policy) {
		return Stream
			.concat(this.configured.find(policy).stream(),
					annotated().filter((annotated) -> annotated.policy().name().equals(policy)))
			.flatMap((identified) -> identified.identifiers().stream())
			.collect(Collectors.toCollection(TreeSet::new));
	}

	static IllegalArgumentException invalid(String name, @Nullable Object value, String rule) {
		return new IllegalArgumentException("Invalid %s (%s): %s.".formatted(name, value, rule));
	}

}
