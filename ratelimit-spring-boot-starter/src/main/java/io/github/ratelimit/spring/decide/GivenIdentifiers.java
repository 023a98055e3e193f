package io.github.ratelimit.spring.decide;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;

/**
 * What code gives: the name of a policy, and identifiers, each for one of a policy's
 * identifiers. Those whose name begins with {@code code:} are known to code only.
 */
public final class GivenIdentifiers {

	private GivenIdentifiers() {
	}

	/**
	 * Returns the policy that code names.
	 * @throws IllegalArgumentException if there is none of that name
	 */
	public static IdentifiedPolicy policy(String name, ConfiguredPolicies policies) {
		return policies.find(name).orElseThrow(() -> unknown(name, policies.policies().keySet()));
	}

	/**
	 * Returns what is wrong with the name of a policy that is none of those that exist.
	 */
	public static IllegalArgumentException unknown(String name, Collection<String> policies) {
		List<String> names = policies.stream().sorted().toList();
		return new IllegalArgumentException(
				"Invalid policy (%s): must be one of %s.%s".formatted(name, names, NearestNames.question(name, names)));
	}

	/** Refuses a policy that counts by identifiers that nobody else knows. */
	static void requireNone(IdentifiedPolicy policy) {
		policy.identifiers().stream().filter(IdentifierNames::isOfCode).findFirst().ifPresent((name) -> {
			throw new IllegalArgumentException(
					"Invalid identifiers [] for the policy '%s': it counts by %s, and only code knows %s."
						.formatted(policy.policy().name(), policy.identifiers(), name));
		});
	}

	/**
	 * Returns the identifiers that a policy counts by, in its order.
	 * @throws IllegalArgumentException if one is missing, given twice, or not one of the
	 * policy's
	 */
	public static List<Identifier> of(IdentifiedPolicy policy, List<Identifier> given) {
		Map<String, Identifier> byType = new LinkedHashMap<>();
		for (Identifier identifier : given) {
			if (byType.put(identifier.type(), identifier) != null) {
				throw invalid(policy, given, "%s is given twice".formatted(identifier.type()));
			}
		}
		MissingIdentifier missing = policy.enforcement().missing();
		if (missing instanceof MissingIdentifier.Fallback fallback && given.size() == 1
				&& byType.containsKey(fallback.identifier()) && !policy.identifiers().contains(fallback.identifier())) {
			return given;
		}
		requireSome(policy, given);
		List<Identifier> identifiers = new ArrayList<>();
		for (String name : policy.identifiers()) {
			Identifier identifier = name.equals(IdentifierNames.GLOBAL) ? Identifier.GLOBAL : byType.get(name);
			if (identifier != null) {
				identifiers.add(identifier);
			}
			else if (missing != MissingIdentifier.SKIP) {
				throw invalid(policy, given, "%s is missing".formatted(name));
			}
		}
		return identifiers;
	}

	/** Returns identifiers if there are some, and a policy counts by all of them. */
	static List<Identifier> requireSome(IdentifiedPolicy policy, List<Identifier> given) {
		if (given.isEmpty()) {
			throw invalid(policy, given, "none is given");
		}
		for (Identifier identifier : given) {
			if (!policy.identifiers().contains(identifier.type())) {
				throw invalid(policy, given, "%s is none of them".formatted(identifier.type()));
			}
		}
		return given;
	}

	/** Names only the types, because values may be personal. */
	private static IllegalArgumentException invalid(IdentifiedPolicy policy, List<Identifier> given, String reason) {
		return new IllegalArgumentException("Invalid identifiers %s for the policy '%s': it counts by %s, but %s."
			.formatted(given.stream().map(Identifier::type).toList(), policy.policy().name(), policy.identifiers(),
					reason));
	}

}
