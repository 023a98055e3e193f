package io.github.ratelimit.algorithm;

import java.math.BigInteger;
import java.util.List;

import io.github.ratelimit.Limit;

/**
 * What all meters have. Not safe for use by several threads.
 */
abstract class MeterBase {

	final List<Limit> limits;

	final long now;

	/** Set when the stored state turns out to be of another time or other options. */
	boolean corrected;

	MeterBase(List<Limit> limits, long now) {
		this.limits = limits;
		this.now = now;
	}

	public final boolean corrected() {
		return this.corrected;
	}

	static BigInteger product(long first, long second) {
		return BigInteger.valueOf(first).multiply(BigInteger.valueOf(second));
	}

	final long quota(int limit) {
		return this.limits.get(limit).quota();
	}

	final long window(int limit) {
		return this.limits.get(limit).windowMicros();
	}

}
