package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The decision of the store for one key and cost when it denied a request. Of the limits
 * of the key that denied it only numbers are kept, side by side: when many keys are
 * known, most of the time would be spent on following references.
 */
final class Verdict {

	/** Of each limit: its index, what remained, and two times in nanoseconds. */
	private static final int NUMBERS = 4;

	private static final long NEVER = -1;

	private final long cost;

	private final long since;

	private final boolean blocked;

	private final long[] limits;

	/**
	 * Creates a verdict.
	 * @param cost the cost
	 * @param policy the policy of the key
	 * @param violated the limits of the key that denied it; empty if only others did
	 * @param since a time before the store was asked, in nanoseconds
	 * @param blocked whether the request was blocked as well, by this key or another one
	 */
	Verdict(long cost, Policy policy, List<LimitStatus> violated, long since, boolean blocked) {
		this.cost = cost;
		this.since = since;
		this.blocked = blocked;
		this.limits = new long[NUMBERS * violated.size()];
		int at = 0;
		for (LimitStatus status : violated) {
			this.limits[at++] = policy.limits().indexOf(status.limit());
			this.limits[at++] = status.remaining();
			this.limits[at++] = TimeUnit.NANOSECONDS.convert(status.resetAfter());
			Duration retryAfter = status.retryAfter();
			this.limits[at++] = (retryAfter != null) ? TimeUnit.NANOSECONDS.convert(retryAfter) : NEVER;
		}
	}

	long cost() {
		return this.cost;
	}

	long since() {
		return this.since;
	}

	boolean blocked() {
		return this.blocked;
	}

	/**
	 * Returns the limits that still deny the cost, with the times that are left.
	 * @param policy the policy of the key
	 * @param identifier the identifier of the key
	 * @return the limits; {@code null} if they are no longer known, because the verdict
	 * is too old, or quota has arrived and {@code remaining} has increased
	 */
	@Nullable List<LimitStatus> at(long now, long maxAge, Policy policy, Identifier identifier) {
		long passed = now - this.since;
		if (passed >= maxAge) {
			return null;
		}
		List<LimitStatus> left = List.of();
		for (int i = 0; i < this.limits.length; i += NUMBERS) {
			long retryAfter = (this.limits[i + 3] != NEVER) ? microsLeft(this.limits[i + 3], passed) : NEVER;
			long resetAfter = microsLeft(this.limits[i + 2], passed);
			if (retryAfter != 0 && resetAfter == 0 && this.limits[i + 2] != 0) {
				return null;
			}
			if (retryAfter != 0) {
				Limit limit = policy.limits().get((int) this.limits[i]);
				left = concat(left, List.of(LimitStatus.ofMicros(policy, identifier, limit, this.limits[i + 1],
						resetAfter, retryAfter, true)));
			}
		}
		return left;
	}

	/** Returns what is left of a time, rounded up to microseconds; 0 if nothing is. */
	static long microsLeft(long nanos, long passed) {
		return (Math.max(0, nanos - passed) + 999) / 1000;
	}

	/** Returns all limits of two lists, and may modify them. */
	static List<LimitStatus> concat(List<LimitStatus> first, List<LimitStatus> second) {
		if (first.isEmpty()) {
			return second;
		}
		List<LimitStatus> all = (first instanceof ArrayList<LimitStatus> grown) ? grown : new ArrayList<>(first);
		all.addAll(second);
		return all;
	}

}
