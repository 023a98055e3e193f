package io.github.ratelimit.redis;

import io.github.ratelimit.Meter;

/**
 * How a limit stands.
 */
interface Standing {

	/** What is left, from 0 to what the limit could ever allow. */
	long remaining();

	/**
	 * Time until a cost would be allowed, in microseconds; 0 if it is now.
	 * @param cost at least 1, and at most what the limit could ever allow
	 */
	long retryAfter(long cost);

	/** By the meter of one limit. */
	static Standing of(Meter meter) {
		return new Standing() {

			@Override
			public long remaining() {
				return meter.remaining(0);
			}

			@Override
			public long retryAfter(long cost) {
				return meter.retryAfter(0, cost);
			}

		};
	}

}
