package io.github.ratelimit.replay;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * A request that a policy has decided, as every store does. Times are in microseconds.
 *
 * @param meter what is used, with this request if it is allowed
 * @param waits for each limit, how long until it would allow the request
 * @param retryAfter how long until all would; 0 if the request is allowed
 */
record Attempt(Meter meter, long[] waits, long retryAfter) {

	static final long NEVER = Long.MAX_VALUE;

	/**
	 * Decides a request.
	 * @param state what is used before; {@code null} for nothing. It must no longer be
	 * used if this {@linkplain #isChange() is a change}
	 */
	static Attempt make(Policy policy, @Nullable MeterState state, long now) {
		Algorithm algorithm = policy.algorithm();
		List<Limit> limits = policy.limits();
		Meter meter = algorithm.meter(limits, state, now);
		long[] waits = new long[limits.size()];
		long longest = 0;
		for (int i = 0; i < waits.length; i++) {
			waits[i] = (algorithm.largestCost(limits.get(i)) > 0) ? meter.retryAfter(i, 1) : NEVER;
			longest = Math.max(longest, waits[i]);
		}
		if (longest == 0) {
			meter.add(1, "");
		}
		return new Attempt(meter, waits, longest);
	}

	/** Returns whether the state of the meter has to be kept. */
	boolean isChange() {
		return this.retryAfter == 0 || this.meter.corrected();
	}

}
