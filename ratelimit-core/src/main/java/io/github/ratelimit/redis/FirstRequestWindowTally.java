package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.redis.Batch.Session;
import io.github.ratelimit.redis.Returns.Return;
import redis.clients.jedis.Protocol.Command;

/**
 * {@code first-request-window} by plain commands: for each limit a counter whose time to
 * live is what is left of the window.
 * <p>
 * What is given back must not fall into the next window, so there is a second Redis key
 * that tells one window from the next by a number: its end by the clock of whoever began
 * it. The counter is made as a copy of it, so that both expire at the same moment, and
 * counts up from there.
 */
final class FirstRequestWindowTally extends Tally {

	private final List<Counter> counters;

	/** The Redis keys of one limit, and what they hold. */
	private static final class Counter {

		private final String key;

		private final String windowKey;

		private final long windowMicros;

		private Reply total = new Reply();

		private Reply window = new Reply();

		/** Of the window, and of the counter. */
		private Reply ttl = new Reply();

		private Reply counterTtl = new Reply();

		private Counter(String key, Limit limit) {
			this.key = RedisKeys.part(key, limit.windowText(), 0);
			this.windowKey = RedisKeys.part(key, limit.windowText(), 1);
			this.windowMicros = limit.windowMicros();
		}

		/** What was used; negative if the Redis keys do not belong together. */
		private long used() {
			return this.total.count() - this.window.count();
		}

	}

	FirstRequestWindowTally(Charge charge, Identifier identifier, String key, Moment moment) {
		super(charge, identifier, key, moment);
		this.counters = limits().stream().map((limit) -> new Counter(key, limit)).toList();
	}

	/** Ends windows that are over by a clock that was handed in. */
	void endWindows(Session session) {
		Batch windows = new Batch();
		this.counters.forEach((counter) -> counter.window = windows.add(Command.GET, counter.windowKey));
		session.transact(windows);
		Batch ends = new Batch();
		for (Counter counter : this.counters) {
			if (counter.window.count() <= this.moment.micros()) {
				ends.add(Command.DEL, counter.key, counter.windowKey);
			}
		}
		session.transact(ends);
	}

	@Override
	void append(Batch batch, long cost) {
		for (Counter counter : this.counters) {
			if (cost > 0) {
				batch.add(Command.SET, counter.windowKey, Long.toString(this.moment.micros() + counter.windowMicros),
						"PX", ttlMillis(counter), "NX");
				batch.add(Command.COPY, counter.windowKey, counter.key);
			}
			counter.total = (cost > 0) ? batch.add(Command.INCRBY, counter.key, Long.toString(cost))
					: batch.add(Command.GET, counter.key);
			counter.window = batch.add(Command.GET, counter.windowKey);
			counter.ttl = batch.add(Command.PTTL, counter.windowKey);
			counter.counterTtl = batch.add(Command.PTTL, counter.key);
		}
	}

	/**
	 * A Redis key lives on in the millisecond in which its time to live is 0, so that a
	 * millisecond less makes the window as long as it should be.
	 */
	private String ttlMillis(Counter counter) {
		return Long.toString(this.moment.ttlMillis(counter.windowMicros / 1000 - 1));
	}

	@Override
	void repair(Batch batch) {
		for (Counter counter : this.counters) {
			if (isEndless(counter)) {
				batch.add(Command.PEXPIRE, counter.windowKey, ttlMillis(counter));
				batch.add(Command.PEXPIRE, counter.key, ttlMillis(counter));
			}
		}
	}

	private boolean isEndless(Counter counter) {
		return isEndless(counter, counter.ttl.count()) || isEndless(counter, counter.counterTtl.count());
	}

	private boolean isEndless(Counter counter, long ttl) {
		return ttl == -1 || ttl > this.moment.ttlMillis(counter.windowMicros / 1000);
	}

	@Override
	List<String> damaged() {
		return this.counters.stream()
			.filter((counter) -> counter.total.damaged() || counter.window.count() <= 0
					|| isBelowNothing(counter.used()))
			.flatMap((counter) -> Stream.of(counter.key, counter.windowKey))
			.toList();
	}

	/** The server tells when windows begin and end. */
	@Override
	boolean countsByTime() {
		return false;
	}

	@Override
	void giveBack(Returns returns, long cost, boolean all) {
		for (Counter counter : this.counters) {
			Long window = counter.window.number();
			long back = all ? cost : Math.min(cost, counter.used());
			if (window != null && back > 0 && counter.total.done()) {
				returns.add(new Return(counter.key, back, 0, window, counter.windowKey));
			}
		}
	}

	@Override
	Standing standing(int limit, long counted) {
		Counter counter = this.counters.get(limit);
		long now = this.moment.micros();
		long left = left(counter);
		return standing(limit, now, (left > 0) ? new long[] { now + left, count(counter.used(), counted) } : null);
	}

	/** What is left of the window, in microseconds. */
	private long left(Counter counter) {
		Long window = counter.window.number();
		if (window == null) {
			return 0;
		}
		if (this.moment.handedIn()) {
			return window - this.moment.micros();
		}
		return isEndless(counter) ? counter.windowMicros : (counter.ttl.count() + 1) * 1000;
	}

	@Override
	List<String> keys() {
		List<String> keys = new ArrayList<>();
		this.counters.forEach((counter) -> keys.addAll(List.of(counter.key, counter.windowKey)));
		return keys;
	}

}
