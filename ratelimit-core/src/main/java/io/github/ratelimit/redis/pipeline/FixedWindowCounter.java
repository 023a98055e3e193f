package io.github.ratelimit.redis.pipeline;

import io.github.ratelimit.Meter;

/**
 * {@code fixed-window}: the count of the present window.
 */
final class FixedWindowCounter extends Counter {

	private final long end;

	FixedWindowCounter(CountedLimit of) {
		super(of);
		// The end of the present window is what the state begins with.
		this.end = of.meter().state().numbers()[0];
		this.keys.add(of.key(of.limit().windowText(), this.end / 1000));
	}

	@Override
	long ttlMillis() {
		return this.of.time().ttlMillisUntil(this.end);
	}

	@Override
	Meter meter(long[] counts) {
		return this.of.meter(this.end, counts[0]);
	}

}
