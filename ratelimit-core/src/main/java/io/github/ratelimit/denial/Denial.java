package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a policy that denied a cost to an identifier.
 *
 * @param policy the policy with its quotas, since other quotas might allow the cost
 * @param cost what was denied
 * @param violated the limits that denied it
 * @param since a time before the store was asked, in nanoseconds
 */
record Denial(Policy policy, long cost, List<LimitStatus> violated, long since) {

	boolean isAbout(Policy policy, long cost) {
		return this.cost == cost && this.policy.equals(policy);
	}

	/** Tells of the limits that still deny the cost, if it is asked for now. */
	void tell(long now, Consumer<LimitStatus> limits) {
		tell(this.violated, this.since, now, limits);
	}

	/** Tells of those of the limits that are still violated. */
	static void tell(List<LimitStatus> violated, long since, long now, Consumer<LimitStatus> limits) {
		for (LimitStatus status : violated) {
			Duration retryAfter = status.retryAfter();
			if (retryAfter == null) {
				limits.accept(status);
				continue;
			}
			Duration left = left(retryAfter, since, now);
			if (left != null) {
				Duration resetAfter = left(status.resetAfter(), since, now);
				limits.accept(new LimitStatus(status.policy(), status.identifier(), status.limit(), status.remaining(),
						(resetAfter != null) ? resetAfter : left, left));
			}
		}
	}

	/**
	 * What is left of a time, rounded up to microseconds; {@code null} if nothing is.
	 */
	static @Nullable Duration left(Duration time, long since, long now) {
		Duration left = time.minusNanos(now - since);
		if (left.isNegative() || left.isZero()) {
			return null;
		}
		return left.plusNanos(999).truncatedTo(ChronoUnit.MICROS);
	}

}
