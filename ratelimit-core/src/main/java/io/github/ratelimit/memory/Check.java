package io.github.ratelimit.memory;

import java.util.List;
import java.util.stream.LongStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.memory.Counts.Key;

/**
 * One policy and identifier of a request. Not safe for use by several threads.
 */
final class Check {

	/** Stands for no time, because the cost can never be allowed. */
	static final long NEVER = -1;

	final Key key;

	final Charge charge;

	final Meter meter;

	/** Microseconds until each limit would allow the cost, before anything is used. */
	final long[] waits;

	long blocked;

	Check(Key key, Charge charge, Meter meter) {
		this.key = key;
		this.charge = charge;
		this.meter = meter;
		this.waits = waits();
	}

	/** Returns whether the policy has a penalty for this denial. */
	boolean isCountedDenial() {
		return this.charge.policy().penalty() != null && this.blocked == 0
				&& LongStream.of(this.waits).anyMatch((wait) -> wait > 0);
	}

	/**
	 * @param counted whether the request has been counted although it was denied
	 */
	void addStatuses(List<LimitStatus> statuses, boolean counted) {
		Policy policy = this.charge.policy();
		long[] present = counted ? waits() : this.waits;
		for (int i = 0; i < this.waits.length; i++) {
			long remaining = this.meter.remaining(i);
			// More quota has arrived when one more than what remains is allowed.
			long resetAfter = (remaining < largestCost(i)) ? this.meter.retryAfter(i, remaining + 1) : 0;
			statuses.add(LimitStatus.ofMicros(policy, this.key.identifier(), policy.limits().get(i), remaining,
					resetAfter, present[i], this.waits[i] != 0));
		}
	}

	private long[] waits() {
		long cost = this.charge.cost();
		long[] waits = new long[this.charge.policy().limits().size()];
		for (int i = 0; i < waits.length && cost > 0; i++) {
			waits[i] = (cost > largestCost(i)) ? NEVER : this.meter.retryAfter(i, cost);
		}
		return waits;
	}

	private long largestCost(int limit) {
		return this.charge.policy().algorithm().largestCost(this.charge.policy().limits().get(limit));
	}

}
