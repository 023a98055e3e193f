package io.github.ratelimit.spring.policy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.PolicyCharge;

/**
 * Names the counts of policies before the login, which are apart from those after it:
 * they belong to a policy of another name, which nobody can configure. Decisions, headers
 * and metrics have the name of the policy itself; the store, its observations and the
 * endpoint have this one. Requests that are denied never count here: they are not given
 * back.
 *
 * @since 0.1
 */
public final class BeforeLogin {

	private static final String SUFFIX = " (before login)";

	private static final int MAX_NAME_LENGTH = 128;

	/** Digits that tell apart what is too long for the suffix. */
	private static final int DIGITS = 8;

	private BeforeLogin() {
	}

	/**
	 * Returns what counts requests of a policy that have not come through the login.
	 * @param policy the policy
	 * @return the same policy, under a name of its own
	 */
	public static Policy of(Policy policy) {
		return new Policy(name(policy.name()), policy.algorithm(), policy.limits(), false);
	}

	private static String name(String policy) {
		if (policy.length() + SUFFIX.length() <= MAX_NAME_LENGTH) {
			return policy + SUFFIX;
		}
		return policy.substring(0, MAX_NAME_LENGTH - SUFFIX.length() - DIGITS)
				+ String.format(Locale.ROOT, "%08x", policy.hashCode()) + SUFFIX;
	}

	/**
	 * Refuses a name that policies have before the login only.
	 * @param name the name of a policy
	 * @throws IllegalArgumentException if the name is such a one
	 */
	public static void requireOther(String name) {
		if (name.endsWith(SUFFIX)) {
			throw new IllegalArgumentException(
					"Invalid policy name (%s): must not end with '%s', which names the count of failed logins."
						.formatted(name, SUFFIX));
		}
	}

	/** Returns what the store counts. */
	static Charge counted(PolicyCharge charge) {
		return charge.beforeLogin()
				? new Charge(of(charge.charge().policy()), charge.charge().identifiers(), charge.charge().cost())
				: charge.charge();
	}

	/** Returns the decision by the names that policies have otherwise. */
	static Decision named(Decision decision, List<PolicyCharge> charges) {
		for (PolicyCharge charge : charges) {
			if (charge.beforeLogin()) {
				return withOtherNames(decision, charges);
			}
		}
		return decision;
	}

	private static Decision withOtherNames(Decision decision, List<PolicyCharge> charges) {
		return new Decision(decision.allowed(),
				decision.statuses().stream().map((status) -> named(status, charges)).toList(), decision.blockedFor(),
				decision.source(), namedShadows(decision, charges));
	}

	private static Map<String, Decision> namedShadows(Decision decision, List<PolicyCharge> charges) {
		Map<String, Decision> shadows = new LinkedHashMap<>();
		decision.shadows()
			.forEach((name,
					shadow) -> shadows.put(charges.stream()
						.filter((charge) -> counted(charge).policy().name().equals(name))
						.findFirst()
						.map((charge) -> charge.charge().policy().name())
						.orElse(name), named(shadow, charges)));
		return shadows;
	}

	private static LimitStatus named(LimitStatus status, List<PolicyCharge> charges) {
		String name = status.policy().name();
		return charges.stream()
			.filter((charge) -> charge.beforeLogin() && name(charge.charge().policy().name()).equals(name))
			.findFirst()
			.map((charge) -> new LimitStatus(charge.charge().policy(), status.identifier(), status.limit(),
					status.remaining(), status.resetAfter(), status.retryAfter(), status.violated()))
			.orElse(status);
	}

}
