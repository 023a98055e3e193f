package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.LimitStatus;
import org.jspecify.annotations.Nullable;

/**
 * What the store said of one key and cost when it denied a request.
 *
 * @param cost what was asked for
 * @param violated the limits that denied it; empty if others did
 * @param since a time before the store was asked, in nanoseconds
 * @param blocked whether the request was blocked as well, by this key or another one
 */
record Verdict(long cost, List<LimitStatus> violated, long since, boolean blocked) {

	/**
	 * Returns the limits that still deny the cost, with the times that are left.
	 * @return the limits; {@code null} if they are not known any more, because the
	 * verdict is too old, or quota has arrived and {@code remaining} is more than it was
	 */
	@Nullable List<LimitStatus> at(long now, long maxAge) {
		long passed = now - this.since;
		if (passed >= maxAge) {
			return null;
		}
		List<LimitStatus> left = List.of();
		for (int i = 0; i < this.violated.size(); i++) {
			LimitStatus status = this.violated.get(i);
			Duration retryAfter = left(status.retryAfter(), passed);
			if (retryAfter == null && status.retryAfter() != null) {
				continue;
			}
			Duration resetAfter = status.resetAfter().equals(status.retryAfter()) ? retryAfter
					: left(status.resetAfter(), passed);
			if (resetAfter == null && !status.resetAfter().isZero()) {
				return null;
			}
			LimitStatus present = new LimitStatus(status.policy(), status.identifier(), status.limit(),
					status.remaining(), (resetAfter != null) ? resetAfter : Duration.ZERO, retryAfter, true);
			left = concat(left, List.of(present));
		}
		return left;
	}

	/**
	 * Returns what is left of a time, rounded up to microseconds; {@code null} if nothing
	 * is, or there is no time.
	 */
	static @Nullable Duration left(@Nullable Duration time, long passed) {
		long nanos = (time != null) ? TimeUnit.NANOSECONDS.convert(time) - passed : 0;
		if (nanos <= 0) {
			return null;
		}
		long micros = (nanos - 1) / 1000 + 1;
		return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1000);
	}

	/** Returns all limits of two lists that nobody else uses. */
	static List<LimitStatus> concat(List<LimitStatus> first, List<LimitStatus> second) {
		if (first.isEmpty()) {
			return second;
		}
		List<LimitStatus> all = (first instanceof ArrayList<LimitStatus> grown) ? grown : new ArrayList<>(first);
		all.addAll(second);
		return all;
	}

}
