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

	synchronized @Nullable Long get(String key) {
		return this.counts.get(key);
	}

	synchronized void put(String key, long count) {
		this.counts.put(key, count);
	}

	synchronized void remove(Collection<String> keys) {
		keys.forEach(this.counts::remove);
	}

	synchronized int size() {
		return this.counts.size();
	}

}
