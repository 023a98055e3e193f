package io.github.ratelimit.redis.pipeline;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Counts of windows that are over and change no more, by Redis key: those that were used
 * last. Safe for use by several threads.
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

	/** If the clock was set back, what was over then may still change. */
	synchronized @Nullable Long get(String key, Time time) {
		if (time.micros() + time.overtaking() < time.latest()) {
			this.counts.clear();
		}
		return this.counts.get(key);
	}

	synchronized void put(String key, long count) {
		this.counts.put(key, count);
	}

	synchronized void remove(Collection<String> keys) {
		keys.forEach(this.counts::remove);
	}

}
