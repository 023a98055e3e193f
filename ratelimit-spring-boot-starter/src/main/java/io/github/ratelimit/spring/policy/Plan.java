package io.github.ratelimit.spring.policy;

import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.TokenBucket;
import org.jspecify.annotations.Nullable;

/**
 * The replacement of a policy for the users of one plan, such as {@code pro}.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy that is enforced instead, with the same name; {@code null} for
 * no limits
 * @since 0.1
 */
public record Plan(@Nullable Policy policy) {

	/** The policy is not enforced for the users of this plan. */
	public static final Plan UNLIMITED = new Plan(null);

	@Override
	public String toString() {
		if (this.policy == null) {
			return "unlimited";
		}
		boolean burst = this.policy.algorithm() instanceof TokenBucket bucket && bucket.burst() != null;
		return this.policy.limits() + (burst ? " with " + this.policy.algorithm() : "");
	}

}
