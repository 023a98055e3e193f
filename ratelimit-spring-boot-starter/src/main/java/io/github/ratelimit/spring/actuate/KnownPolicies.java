package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.IdentifierNames;
import org.jspecify.annotations.Nullable;

/**
 * The current policies of the configuration and of the annotations found so far.
 */
final class KnownPolicies {

	/** Identifiers that any policy may count by if a request has none of its own. */
	private static final List<String> FALLBACKS = List.of(IdentifierNames.ADDRESS, IdentifierNames.GLOBAL);

	private final ConfiguredPolicies configured;

	private final Supplier<Map<String, Set<IdentifiedPolicy>>> annotated;

	private final UnaryOperator<IdentifiedPolicy> current;

	KnownPolicies(ConfiguredPolicies configured, Supplier<Map<String, Set<IdentifiedPolicy>>> annotated,
			UnaryOperator<IdentifiedPolicy> current) {
		this.configured = configured;
		this.annotated = annotated;
		this.current = current;
	}

	/** Returns all policies by name. */
	Map<String, IdentifiedPolicy> all() {
		Map<String, IdentifiedPolicy> all = new TreeMap<>(this.configured.policies());
		annotations().forEach((policy) -> all.putIfAbsent(policy.policy().name(), policy));
		all.replaceAll((name, policy) -> this.current.apply(policy));
		return all;
	}

	/** Returns the policies of annotated methods and types, by their names. */
	Map<String, Set<IdentifiedPolicy>> annotated() {
		return this.annotated.get();
	}

	private Stream<IdentifiedPolicy> annotations() {
		return annotated().values().stream().flatMap(Set::stream);
	}

	/**
	 * Returns the policies that count an identifier.
	 * @param name the name of the only policy to return; {@code null} for all
	 * @throws IllegalArgumentException if there is no such policy
	 */
	List<IdentifiedPolicy> counting(Identifier identifier, @Nullable String name) {
		if (name == null) {
			List<IdentifiedPolicy> policies = all().values()
				.stream()
				.filter((policy) -> types(policy.policy().name()).anyMatch(identifier.type()::equals))
				.toList();
			if (policies.isEmpty()) {
				throw new IllegalArgumentException(
						"Invalid identifier (%s): no policy counts by %s.".formatted(identifier, identifier.type()));
			}
			return policies;
		}
		IdentifiedPolicy policy = require(name);
		if (!FALLBACKS.contains(identifier.type()) && types(name).noneMatch(identifier.type()::equals)) {
			throw new IllegalArgumentException("Invalid identifier (%s): the policy '%s' counts by %s."
				.formatted(identifier, name, String.join(", ", types(name).distinct().sorted().toList())));
		}
		return List.of(policy);
	}

	/**
	 * Returns a policy by name.
	 * @throws IllegalArgumentException if there is none
	 */
	IdentifiedPolicy require(String name) {
		Map<String, IdentifiedPolicy> all = all();
		IdentifiedPolicy policy = all.get(name);
		if (policy == null) {
			throw new IllegalArgumentException("Invalid policy (%s): must be one of %s.".formatted(name, all.keySet()));
		}
		return policy;
	}

	/**
	 * Parses the text form of an identifier, {@code type:value}. Both may contain colons,
	 * because the types that policies count by are known.
	 * @throws IllegalArgumentException if no policy counts by that type
	 */
	Identifier parse(String text) {
		List<String> types = Stream.of(FALLBACKS.stream(), all().keySet().stream().flatMap(this::types))
			.flatMap((stream) -> stream)
			.distinct()
			.sorted()
			.toList();
		Identifier identifier = IdentifierNames.withValue(text, types);
		if (identifier == null) {
			throw new IllegalArgumentException(
					"Invalid identifier (%s): must be global or type:value, where the type is one of %s."
						.formatted(text, types));
		}
		return identifier;
	}

	private Stream<String> types(String policy) {
		return Stream
			.concat(this.configured.find(policy).stream(),
					annotations().filter((annotated) -> annotated.policy().name().equals(policy)))
			.flatMap((identified) -> identified.identifiers().stream());
	}

}
