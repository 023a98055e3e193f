package io.github.ratelimit.spring;

import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What a policy is for the users of one plan, such as {@code pro}.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy that counts instead, with the same name; {@code null} if
 * nothing counts
 * @since 0.1
 */
public record Plan(@Nullable Policy policy) {

	/**
	 * The policy does not count for the users of this plan.
	 */
	public static final Plan UNLIMITED = new Plan(null);

	@Override
	public String toString() {
		return (this.policy != null) ? this.policy.limits().toString() : "unlimited";
	}

}
