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
 * The counts in memory: a state for each policy and identifier. Of too many, those that
 * were used least recently are forgotten.
 * <p>
 * After as many changes as there are counts, those that no longer matter are swept away,
 * a few with each change. Not safe for use by several threads.
 */
final class Counts {

	private static final int SMALLEST_SWEEP = 1024;

	/** How many counts are looked at with each change, while they are swept. */
	private static final int SWEEP_STEP = 32;

	private final Map<Key, Count> counts;

	/** All counts in the order in which they are swept, and some that are gone. */
	private final Queue<Count> sweepOrder = new ArrayDeque<>();

	private int changesUntilSweep = SMALLEST_SWEEP;

	/** How many counts of the present sweep are still to be looked at. */
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
	 * Puts a state in the place of the one before.
	 * @param ttl for how long it matters, in microseconds
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

	/** What Redis keys are made of. */
	record Key(Identifier identifier, String policy, String stateForm) {

		static Key of(Policy policy, Identifier identifier) {
			return new Key(identifier, policy.name(), policy.stateForm());
		}

	}

	private static final class Count {

		private final Key key;

		private @Nullable MeterState state;

		private long expiresAt;

		/** Whether it is not one of the counts any more. */
		private boolean gone;

		private Count(Key key) {
			this.key = key;
		}

	}

}
