package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.redis.Returns.Return;
import redis.clients.jedis.Protocol.Command;

/**
 * Counters of which each belongs to one window, whose time is part of the Redis key: what
 * comes late falls into the window that it is meant for.
 */
abstract class WindowTally extends Tally {

	private final List<Counter> counters = new ArrayList<>();

	WindowTally(Charge charge, Identifier identifier, String key, Moment moment) {
		super(charge, identifier, key, moment);
	}

	/** A counter, and the time until which it matters. */
	static final class Counter {

		private final String key;

		private final long endMicros;

		private Reply total = new Reply();

		Counter(String key, long endMicros) {
			this.key = key;
			this.endMicros = endMicros;
		}

		String key() {
			return this.key;
		}

		long endMicros() {
			return this.endMicros;
		}

		long total() {
			return this.total.count();
		}

	}

	/** Adds the counter of a present window. */
	final Counter counter(String name, long number, long endMicros) {
		Counter counter = new Counter(part(name, number), endMicros);
		this.counters.add(counter);
		return counter;
	}

	final String part(String name, long number) {
		return RedisKeys.part(this.key, name, number);
	}

	final long start(Limit limit) {
		return this.moment.micros() - this.moment.micros() % limit.windowMicros();
	}

	@Override
	void append(Batch batch, long cost) {
		for (Counter counter : this.counters) {
			if (cost == 0) {
				counter.total = batch.add(Command.GET, counter.key);
			}
			else {
				counter.total = batch.add(Command.INCRBY, counter.key, Long.toString(cost));
				batch.add(Command.PEXPIRE, counter.key, Long.toString(this.moment.ttlMillisUntil(counter.endMicros)));
			}
		}
	}

	@Override
	List<String> damaged() {
		return this.counters.stream()
			.filter((counter) -> counter.total.damaged() || isBelowNothing(counter.total()))
			.map((counter) -> counter.key)
			.toList();
	}

	@Override
	boolean countsByTime() {
		return true;
	}

	@Override
	void giveBack(Returns returns, long cost, boolean all) {
		for (Counter counter : this.counters) {
			long back = all ? cost : Math.min(cost, counter.total());
			if (back > 0 && counter.total.done()) {
				returns.add(new Return(counter.key, back, this.moment.ttlMillisUntil(counter.endMicros), 0, null));
			}
		}
	}

	@Override
	List<String> keys() {
		return this.counters.stream().map((counter) -> counter.key).toList();
	}

}
