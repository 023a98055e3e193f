package io.github.ratelimit.redis.pipeline;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;

/**
 * One limit of a policy and identifier, as a request asks for it.
 *
 * @param charge the policy and the cost
 * @param identifier who is counted
 * @param limit the limit
 * @param key what the Redis keys of the policy and identifier begin with
 * @param slot where they are
 * @param time the time of the request
 */
record CountedLimit(Charge charge, Identifier identifier, Limit limit, String key, int slot, Time time) {

	Policy policy() {
		return this.charge.policy();
	}

	Algorithm algorithm() {
		return policy().algorithm();
	}

	long cost() {
		return this.charge.cost();
	}

	long largestCost() {
		return algorithm().largestCost(this.limit);
	}

	long window() {
		return this.limit.windowMicros();
	}

	/** By how much a request of the same window may be ahead. */
	long overtaking() {
		return Math.min(this.time.overtaking(), window());
	}

	/** Name of the Redis key of one of several windows. */
	String key(Object name, long number) {
		return this.key + ':' + name + ':' + number;
	}

	/** The state of the limit alone. */
	Meter meter(long... state) {
		return algorithm().withoutScripts(this.limit)
			.meter(List.of(this.limit), (state.length > 0) ? MeterState.of(state) : null, this.time.micros());
	}

}
