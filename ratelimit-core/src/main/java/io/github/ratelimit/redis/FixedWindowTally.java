package io.github.ratelimit.redis;

import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;

/**
 * {@code fixed-window} by plain commands: for each limit a counter of the present window.
 */
final class FixedWindowTally extends WindowTally {

	private final long[] ends;

	private final Counter[] counters;

	FixedWindowTally(Charge charge, Identifier identifier, String key, Moment moment) {
		super(charge, identifier, key, moment);
		this.ends = new long[limits().size()];
		this.counters = new Counter[limits().size()];
		for (int i = 0; i < this.ends.length; i++) {
			Limit limit = limits().get(i);
			// The end of the present window is what the state begins with.
			this.ends[i] = algorithm().meter(List.of(limit), null, moment.micros()).state().numbers()[0];
			this.counters[i] = counter(limit.windowText(), this.ends[i] / 1000, this.ends[i]);
		}
	}

	@Override
	Standing standing(int limit, long counted) {
		return standing(limit, this.moment.micros(),
				new long[] { this.ends[limit], count(this.counters[limit].total(), counted) });
	}

}
