package io.github.ratelimit.spring.policy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;

/**
 * Names the counts of policies before the login. These are separate from the counts after
 * it: they belong to a policy of another name, which cannot be configured. Decisions,
 * headers and metrics use the name of the policy itself; the store, its observations and
 * the endpoint use this one. Denied requests are never counted before the login, because
 * they would not be refunded. They do lead to penalties, which are blocks in the policy
 * of this name: they deny only what is counted before the login.
 *
 * @since 0.1
 */
public final class BeforeLogin {

	private static final ReservedName NAME = new ReservedName(" (before login)", "the count of failed logins");

	private BeforeLogin() {
	}

	/**
	 * Returns the policy that counts requests before the login.
	 * @param policy the policy
	 * @return the same policy with another name
	 */
	public static Policy of(Policy policy) {
		return new Policy(NAME.of(policy.name()), policy.algorithm(), policy.limits(), false, null, policy.penalty());
	}

	/**
	 * Rejects a name that is reserved for counts before the login.
	 * @param name the name of a policy
	 * @throws IllegalArgumentException if the name is reserved
	 */
	public static void requireOther(String name) {
		NAME.requireOther(name);
	}

	/** Returns the charge that the store counts. */
	static Charge counted(PolicyCharge charge) {
		return charge.beforeLogin()
				? new Charge(of(charge.charge().policy()), charge.charge().identifiers(), charge.charge().cost())
				: charge.charge();
	}

	/** Returns the decision with the names of the policies themselves. */
	static Decision restoreNames(Decision decision, List<PolicyCharge> charges) {
		return new Decision(decision.allowed(),
				decision.statuses().stream().map((status) -> restoreName(status, charges)).toList(),
				decision.blockedFor(), decision.source(), shadowsWithNames(decision, charges));
	}

	private static Map<String, Decision> shadowsWithNames(Decision decision, List<PolicyCharge> charges) {
		Map<String, Decision> shadows = new LinkedHashMap<>();
		decision.shadows()
			.forEach((name,
					shadow) -> shadows.put(charges.stream()
						.filter((charge) -> counted(charge).policy().name().equals(name))
						.findFirst()
						.map((charge) -> charge.charge().policy().name())
						.orElse(name), restoreNames(shadow, charges)));
		return shadows;
	}

	private static LimitStatus restoreName(LimitStatus status, List<PolicyCharge> charges) {
		String name = status.policy().name();
		return charges.stream()
			.filter((charge) -> charge.beforeLogin() && NAME.of(charge.charge().policy().name()).equals(name))
			.findFirst()
			.map((charge) -> new LimitStatus(charge.charge().policy(), status.identifier(), status.limit(),
					status.remaining(), status.resetAfter(), status.retryAfter(), status.violated()))
			.orElse(status);
	}

}
