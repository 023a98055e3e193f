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
 * present window and the one of the window before, which may be known already. Shortly
 * before the window ends, what others have counted in the next one counts as well.
 */
final class SlidingWindowCounterTally extends WindowTally {

	private final PastCounts pastCounts;

	private final Counter[] counters;

	private final String[] previousKeys;

	private final @Nullable Reply[] previous;

	/** Counters of the windows that requests ahead of this one may be in. */
	private final String[] nextKeys;

	private final @Nullable Reply[] next;

	private final @Nullable Long[] known;

	SlidingWindowCounterTally(Charge charge, Identifier identifier, String key, Moment moment, PastCounts pastCounts) {
		super(charge, identifier, key, moment);
		this.pastCounts = pastCounts;
		this.counters = new Counter[limits().size()];
		this.previousKeys = new String[limits().size()];
		this.previous = new Reply[limits().size()];
		this.nextKeys = new String[limits().size()];
		this.next = new Reply[limits().size()];
		this.known = new Long[limits().size()];
		for (int i = 0; i < this.counters.length; i++) {
			Limit limit = limits().get(i);
			long start = start(limit);
			long window = limit.windowMicros();
			this.counters[i] = counter(limit.windowText(), start / 1000, start + 2 * window);
			this.previousKeys[i] = part(limit.windowText(), (start - window) / 1000);
			this.nextKeys[i] = part(limit.windowText(), (start + window) / 1000);
		}
	}

	@Override
	void append(Batch batch, long cost) {
		super.append(batch, cost);
		for (int i = 0; i < this.previous.length; i++) {
			this.known[i] = isSettled(i) ? this.pastCounts.get(this.previousKeys[i], this.moment) : null;
			if (this.known[i] == null) {
				this.previous[i] = batch.add(Command.GET, this.previousKeys[i]);
			}
			if (this.moment.micros() + Moment.OVERTAKING_MICROS >= end(i)) {
				this.next[i] = batch.add(Command.GET, this.nextKeys[i]);
			}
		}
	}

	private long end(int limit) {
		return start(limits().get(limit)) + limits().get(limit).windowMicros();
	}

	/** Whether nobody takes the window before for the present one any more. */
	private boolean isSettled(int limit) {
		return this.moment.micros() - start(limits().get(limit)) >= Moment.OVERTAKING_MICROS;
	}

	@Override
	Standing standing(int limit, long counted) {
		long now = this.moment.micros();
		long end = end(limit);
		long start = start(limits().get(limit));
		long previous = count(previous(limit), 0);
		long current = count(this.counters[limit].total(), counted);
		Reply reply = this.next[limit];
		long next = (reply != null) ? count(reply.count(), 0) : 0;
		if (next == 0) {
			return standing(limit, now, new long[] { start, previous, current });
		}
		// As if it were made now, but it stays when the window ends.
		Standing present = standing(limit, now, new long[] { start, previous, count(current + next, 0) });
		Standing after = standing(limit, end, new long[] { end, current, next });
		return new Standing() {

			@Override
			public long remaining() {
				return present.remaining();
			}

			@Override
			public long retryAfter(long cost) {
				long retryAfter = present.retryAfter(cost);
				return (retryAfter < end - now) ? retryAfter : end - now + after.retryAfter(cost);
			}

		};
	}

	private long previous(int limit) {
		Long known = this.known[limit];
		if (known != null) {
			return known;
		}
		Reply reply = this.previous[limit];
		long count = (reply != null) ? reply.count() : 0;
		if (isSettled(limit)) {
			this.pastCounts.put(this.previousKeys[limit], count, this.moment);
		}
		return count;
	}

	@Override
	List<String> keys() {
		List<String> keys = new ArrayList<>(super.keys());
		keys.addAll(List.of(this.previousKeys));
		keys.addAll(List.of(this.nextKeys));
		return keys;
	}

}
