package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;

/**
 * {@code sliding-window-counter} by plain commands: for each limit a counter of the
 * present window and the one of the window before, which may be known already.
 */
final class SlidingWindowCounterTally extends WindowTally {

	private final PastCounts pastCounts;

	private final Counter[] counters;

	private final String[] previousKeys;

	private final @Nullable Reply[] previous;

	private final @Nullable Long[] known;

	SlidingWindowCounterTally(Charge charge, Identifier identifier, String key, Moment moment, PastCounts pastCounts) {
		super(charge, identifier, key, moment);
		this.pastCounts = pastCounts;
		this.counters = new Counter[limits().size()];
		this.previousKeys = new String[limits().size()];
		this.previous = new Reply[limits().size()];
		this.known = new Long[limits().size()];
		for (int i = 0; i < this.counters.length; i++) {
			Limit limit = limits().get(i);
			long start = start(limit);
			long window = limit.windowMicros();
			this.counters[i] = counter(limit.windowText(), start / 1000, start + 2 * window);
			this.previousKeys[i] = part(limit.windowText(), (start - window) / 1000);
		}
	}

	@Override
	void append(Batch batch, long cost) {
		super.append(batch, cost);
		for (int i = 0; i < this.previous.length; i++) {
			this.known[i] = isSettled(i) ? this.pastCounts.get(this.previousKeys[i]) : null;
			if (this.known[i] == null) {
				this.previous[i] = batch.add(Command.GET, this.previousKeys[i]);
			}
		}
	}

	/** Whether nobody takes the window before for the present one any more. */
	private boolean isSettled(int limit) {
		return this.moment.micros() - start(limits().get(limit)) >= Moment.CLOCK_DIFFERENCE_MICROS;
	}

	@Override
	long[] state(int limit, long counted) {
		return new long[] { start(limits().get(limit)), count(previous(limit), 0),
				count(this.counters[limit].total(), counted) };
	}

	private long previous(int limit) {
		Long known = this.known[limit];
		if (known != null) {
			return known;
		}
		Reply reply = this.previous[limit];
		long count = (reply != null) ? reply.count() : 0;
		if (isSettled(limit)) {
			this.pastCounts.put(this.previousKeys[limit], count);
		}
		return count;
	}

	@Override
	List<String> keys() {
		List<String> keys = new ArrayList<>(super.keys());
		keys.addAll(List.of(this.previousKeys));
		return keys;
	}

}
