package io.github.ratelimit.memory;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The counts in memory: a state for each policy and identifier. If there are too many,
 * the least recently used ones are removed. Each change checks whether some others no
 * longer matter. Not safe for use by several threads.
 */
final class Counts {

	/** So many that there are at most twice the counts that matter. */
	private static final int CHECKED = 2;

	private final Map<Key, Count> counts;

	/** All counts in the order in which they are checked, and some that are removed. */
	private final Queue<Count> toCheck = new ArrayDeque<>();

	Counts(int maxCounts) {
		this.counts = new LinkedHashMap<>(16, 0.75F, true) {

			private static final long serialVersionUID = 1L;

			@Override
			protected boolean removeEldestEntry(Map.Entry<Key, Count> eldest) {
				eldest.getValue().gone = size() > maxCounts;
				return eldest.getValue().gone;
			}

		};
	}

	int size() {
		return this.counts.size();
	}

	@Nullable MeterState get(Key key) {
		Count count = this.counts.get(key);
		return (count != null) ? count.state : null;
	}

	/**
	 * Replaces a state.
	 * @param ttl how long the state matters, in microseconds
	 */
	void put(Key key, MeterState state, long now, long ttl) {
		Count count = this.counts.get(key);
		if (count == null) {
			count = new Count(key);
			this.counts.put(key, count);
			this.toCheck.add(count);
		}
		count.state = state;
		count.expiresAt = now + ttl;
		for (int i = 0; i < CHECKED; i++) {
			check(now);
		}
	}

	void remove(Key key) {
		Count count = this.counts.remove(key);
		if (count != null) {
			count.gone = true;
		}
	}

	private void check(long now) {
		Count count = this.toCheck.poll();
		if (count != null && !count.gone) {
			if (count.expiresAt > now) {
				this.toCheck.add(count);
			}
			else {
				remove(count.key);
			}
		}
	}

	/** The same components as those of a Redis key. */
	record Key(Identifier identifier, String policy, String stateForm) {

		static Key of(Policy policy, Identifier identifier) {
			return new Key(identifier, policy.name(), policy.stateForm());
		}

		/** Returns the key of recent denials, whose form no algorithm has. */
		static Key ofDenials(Policy policy, Identifier identifier) {
			return new Key(identifier, policy.name(), "~denials");
		}

	}

	private static final class Count {

		private final Key key;

		private @Nullable MeterState state;

		private long expiresAt;

		private boolean gone;

		private Count(Key key) {
			this.key = key;
		}

	}

}
