package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * An algorithm of a user's own: a count that is forgotten after a window without
 * requests.
 *
 * @param extra how much more than the quota is allowed
 */
record QuietPeriod(long extra) implements Algorithm {

	@Override
	public String name() {
		return "quiet-period";
	}

	@Override
	public String code() {
		return "qp";
	}

	@Override
	public long largestCost(Limit limit) {
		return limit.quota() + this.extra;
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("EXTRA", this.extra);
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new QuietPeriodMeter(limits, state, nowMicros, this.extra);
	}

}
