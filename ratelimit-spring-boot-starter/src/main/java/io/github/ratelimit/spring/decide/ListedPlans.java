package io.github.ratelimit.spring.decide;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.ratelimit.spring.policy.IdentifiedPolicy;

import org.springframework.util.StringUtils;

/**
 * Logs, once each, the plans of users that no policy lists: if one of them is misspelt,
 * its users would get the limits without a plan in silence.
 * <p>
 * Safe for use by several threads.
 */
public final class ListedPlans {

	private final Supplier<? extends Iterable<IdentifiedPolicy>> policies;

	private final BooleanSupplier changing;

	private final LoggedOnce warnings = new LoggedOnce(ListedPlans.class);

	/**
	 * Creates the plans.
	 * @param policies supplies the current policies
	 * @param changing returns whether beans of the application may add plans
	 */
	public ListedPlans(Supplier<? extends Iterable<IdentifiedPolicy>> policies, BooleanSupplier changing) {
		this.policies = policies;
		this.changing = changing;
	}

	/** Looks at the plan of a user. */
	public void look(String plan) {
		for (IdentifiedPolicy policy : this.policies.get()) {
			if (policy.plans().containsKey(plan)) {
				return;
			}
		}
		if (!this.warnings.contains(plan) && !this.changing.getAsBoolean()) {
			Set<String> listed = new TreeSet<>();
			this.policies.get().forEach((policy) -> listed.addAll(policy.plans().keySet()));
			this.warnings.warn(plan,
					"The plan '{}' of a user is in no policy, so that the limits without a plan apply.{} The plans"
							+ " of policies are {}. This is logged once",
					StringUtils.truncate(plan, 64).replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?"),
					NearestNames.question(plan, listed), listed);
		}
	}

}
