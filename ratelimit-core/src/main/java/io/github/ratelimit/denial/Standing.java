package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.LimitStatus;
import org.jspecify.annotations.Nullable;

/**
 * How the limits of an account stood for a cost, when a request was denied.
 *
 * @param violated the limits that denied it; empty if it was denied for other reasons
 * @param since a time before the store was asked, in nanoseconds
 * @param blocked whether the request was blocked as well, by this account or another one
 */
record Standing(List<LimitStatus> violated, long since, boolean blocked) {

	/**
	 * Returns what of it still holds: the limits that still deny the cost, with the times
	 * that are left.
	 * @return how the limits stand; {@code null} if they can no longer be told of,
	 * because quota has arrived and {@code remaining} is more than it was
	 */
	@Nullable Standing at(long now) {
		List<LimitStatus> limits = new ArrayList<>(this.violated.size());
		for (LimitStatus status : this.violated) {
			Duration retryAfter = status.retryAfter();
			Duration wait = (retryAfter != null) ? left(retryAfter, this.since, now) : null;
			if (retryAfter != null && wait == null) {
				continue;
			}
			Duration resetAfter = status.resetAfter();
			if (!resetAfter.isZero()) {
				resetAfter = left(resetAfter, this.since, now);
				if (resetAfter == null) {
					return null;
				}
			}
			limits.add(new LimitStatus(status.policy(), status.identifier(), status.limit(), status.remaining(),
					resetAfter, wait));
		}
		return new Standing(limits, now, this.blocked);
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
