package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.LimitStatus;
import org.jspecify.annotations.Nullable;

/**
 * The decision of the store for one key and cost when it denied a request.
 *
 * @param cost the cost
 * @param violated the limits of the key that denied it; empty if only others did
 * @param since a time before the store was asked, in nanoseconds
 * @param blocked whether the request was blocked as well, by this key or another one
 */
record Verdict(long cost, List<LimitStatus> violated, long since, boolean blocked) {

	/**
	 * Returns the limits that still deny the cost, with the times that are left.
	 * @return the limits; {@code null} if they are no longer known, because the verdict
	 * is too old, or quota has arrived and {@code remaining} has increased
	 */
	@Nullable List<LimitStatus> at(long now, long maxAge) {
		long passed = now - this.since;
		if (passed >= maxAge) {
			return null;
		}
		List<LimitStatus> left = List.of();
		for (int i = 0; i < this.violated.size(); i++) {
			LimitStatus status = this.violated.get(i);
			long retryAfter = (status.retryAfter() != null) ? microsLeft(status.retryAfter(), passed) : -1;
			long resetAfter = microsLeft(status.resetAfter(), passed);
			if (retryAfter != 0 && resetAfter == 0 && !status.resetAfter().isZero()) {
				return null;
			}
			if (retryAfter != 0) {
				left = concat(left, List.of(LimitStatus.ofMicros(status.policy(), status.identifier(), status.limit(),
						status.remaining(), resetAfter, retryAfter, true)));
			}
		}
		return left;
	}

	/** Returns what is left of a time, rounded up to microseconds; 0 if nothing is. */
	static long microsLeft(Duration time, long passedNanos) {
		return (Math.max(0, TimeUnit.NANOSECONDS.convert(time) - passedNanos) + 999) / 1000;
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
