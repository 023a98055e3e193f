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
 * the least recently used ones are removed.
 * <p>
 * Counts that no longer matter are removed by a sweep, which checks a few counts with
 * each change. A sweep begins after as many changes as there are counts. Not safe for use
 * by several threads.
 */
final class Counts {

	private static final int SMALLEST_SWEEP = 1024;

	/** Number of counts that a sweep checks with each change. */
	private static final int SWEEP_STEP = 32;

	private final Map<Key, Count> counts;

	/** All counts in the order of the sweep, and some that are already removed. */
	private final Queue<Count> sweepOrder = new ArrayDeque<>();

	private int changesUntilSweep = SMALLEST_SWEEP;

	/** Number of counts that the current sweep has not checked yet. */
	private int toSweep;

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

	/** Returns the state of a count; {@code null} if there is none. */
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
			this.sweepOrder.add(count);
		}
		count.state = state;
		count.expiresAt = now + ttl;
		sweep(now);
	}

	void remove(Key key) {
		Count count = this.counts.remove(key);
		if (count != null) {
			count.gone = true;
		}
	}

	private void sweep(long now) {
		this.changesUntilSweep--;
		if (this.changesUntilSweep == 0) {
			this.toSweep = this.sweepOrder.size();
		}
		for (int i = 0; i < SWEEP_STEP && this.toSweep > 0; i++) {
			Count count = this.sweepOrder.remove();
			if (!count.gone && count.expiresAt > now) {
				this.sweepOrder.add(count);
			}
			else if (!count.gone) {
				remove(count.key);
			}
			this.toSweep--;
			if (this.toSweep == 0) {
				this.changesUntilSweep = Math.max(SMALLEST_SWEEP, size());
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

		/** Whether it has been removed. */
		private boolean gone;

		private Count(Key key) {
			this.key = key;
		}

	}

}
