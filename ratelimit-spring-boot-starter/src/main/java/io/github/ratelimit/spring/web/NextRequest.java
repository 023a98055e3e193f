package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.PolicyDecisions;
import org.jspecify.annotations.Nullable;

/**
 * What a denied request would have to use when it comes again. A policy may count it by
 * one set of identifiers for its path, and by another one for a call; an identifier of
 * both pays twice.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param parts what can be looked at together: no policy twice in any of them
 */
record NextRequest(List<Map<String, PolicyCharge>> parts) {

	static NextRequest of(List<PolicyCharge> charges) {
		List<Map<String, PolicyCharge>> parts = new ArrayList<>();
		eachIdentifier(charges).forEach((charge) -> add(charge, parts));
		return new NextRequest(parts);
	}

	/** The sum of what each identifier has to pay to each policy. */
	private static List<PolicyCharge> eachIdentifier(List<PolicyCharge> charges) {
		Map<List<Object>, PolicyCharge> each = new LinkedHashMap<>();
		for (PolicyCharge charge : charges) {
			for (Identifier identifier : charge.charge().identifiers()) {
				each.merge(List.of(charge.charge().policy().name(), identifier),
						with(charge, List.of(identifier), charge.charge().cost()), (one, other) -> with(one,
								List.of(identifier), sum(one.charge().cost(), other.charge().cost())));
			}
		}
		return List.copyOf(each.values());
	}

	private static void add(PolicyCharge charge, List<Map<String, PolicyCharge>> parts) {
		String policy = charge.charge().policy().name();
		for (Map<String, PolicyCharge> part : parts) {
			PolicyCharge other = part.putIfAbsent(policy, charge);
			if (other == null) {
				return;
			}
			if (other.charge().cost() == charge.charge().cost()) {
				List<Identifier> identifiers = new ArrayList<>(other.charge().identifiers());
				identifiers.addAll(charge.charge().identifiers());
				part.put(policy, with(other, identifiers, other.charge().cost()));
				return;
			}
		}
		parts.add(new LinkedHashMap<>(Map.of(policy, charge)));
	}

	/** Returns whether it would be allowed now, with all limits that it would meet. */
	Decision look(PolicyDecisions decisions) {
		List<Decision> each = this.parts.stream().map((part) -> decisions.peek(List.copyOf(part.values()))).toList();
		return (each.size() == 1) ? each.get(0)
				: new Decision(each.stream().allMatch(Decision::allowed),
						each.stream().flatMap((decision) -> decision.statuses().stream()).toList(),
						each.stream()
							.map(Decision::blockedFor)
							.filter(Objects::nonNull)
							.max(Comparator.<@Nullable Duration>naturalOrder())
							.orElse(null));
	}

	private static PolicyCharge with(PolicyCharge charge, List<Identifier> identifiers, long cost) {
		return new PolicyCharge(charge.policy(), new Charge(charge.charge().policy(), identifiers, cost),
				charge.plan());
	}

	/** The sum of two costs; the largest cost if it is more than that. */
	static long sum(long one, long other) {
		return (one > Long.MAX_VALUE - other) ? Long.MAX_VALUE : one + other;
	}

}
