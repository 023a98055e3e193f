package io.github.ratelimit.redis;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Counts of windows that are over and change no more, by Redis key: a fixed number of
 * those that were used last. Safe for use by several threads.
 */
final class PastCounts {

	/** About 2 MB. */
	static final int MAX_SIZE = 10_000;

	private final Map<String, Long> counts = new LinkedHashMap<>(16, 0.75f, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
			return size() > MAX_SIZE;
		}

	};

	/** The latest time, in microseconds. */
	private long latest = Long.MIN_VALUE;

	synchronized @Nullable Long get(String key, Moment moment) {
		forgetTheFuture(moment);
		return this.counts.get(key);
	}

	synchronized void put(String key, long count, Moment moment) {
		forgetTheFuture(moment);
		this.counts.put(key, count);
	}

	/** If the clock was set back, what was over then may still change. */
	private void forgetTheFuture(Moment moment) {
		if (moment.micros() + Moment.OVERTAKING_MICROS < this.latest) {
			this.counts.clear();
			this.latest = moment.micros();
		}
		this.latest = Math.max(this.latest, moment.micros());
	}

	synchronized void remove(Collection<String> keys) {
		keys.forEach(this.counts::remove);
	}

	synchronized int size() {
		return this.counts.size();
	}

}
