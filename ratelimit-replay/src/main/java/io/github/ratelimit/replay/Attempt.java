package io.github.ratelimit.replay;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * A request that a policy has decided, as every store does. All times are in
 * microseconds.
 *
 * @param meter what the client has used, with this request if it is allowed
 * @param waits for each limit, how long until it would allow the request; {@link #NEVER}
 * if it will not
 */
record Attempt(Meter meter, long[] waits) {

	static final long NEVER = Long.MAX_VALUE;

	/**
	 * Decides a request.
	 * @param state what the client has used before; {@code null} for nothing. It must no
	 * longer be used if this attempt {@linkplain #isChange() is a change}
	 */
	static Attempt make(Policy policy, @Nullable MeterState state, long now) {
		Algorithm algorithm = policy.algorithm();
		List<Limit> limits = policy.limits();
		Attempt attempt = new Attempt(algorithm.meter(limits, state, now), new long[limits.size()]);
		for (int i = 0; i < limits.size(); i++) {
			attempt.waits[i] = (algorithm.largestCost(limits.get(i)) > 0) ? attempt.meter.retryAfter(i, 1) : NEVER;
		}
		if (attempt.isAllowed()) {
			attempt.meter.add(1, "");
		}
		return attempt;
	}

	boolean isAllowed() {
		return retryAfter() == 0;
	}

	/** Returns how long until all limits would allow the request. */
	long retryAfter() {
		long longest = 0;
		for (long wait : this.waits) {
			longest = Math.max(longest, wait);
		}
		return longest;
	}

	/** Returns whether the state of the meter has to be kept. */
	boolean isChange() {
		return isAllowed() || this.meter.corrected();
	}

}
