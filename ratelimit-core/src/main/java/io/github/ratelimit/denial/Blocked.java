package io.github.ratelimit.denial;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * That one of several accounts is blocked; which of them the store does not say.
 *
 * @param time for how long
 * @param since a time before the store was asked, in nanoseconds
 * @param epoch when this was found out, as {@link DenialMemory} counts
 * @param questions how often the store was asked though the answer was known in part
 */
record Blocked(Duration time, long since, long epoch, Questions questions) {

	@Nullable Duration left(long now) {
		return Standing.left(this.time, this.since, now);
	}

}
