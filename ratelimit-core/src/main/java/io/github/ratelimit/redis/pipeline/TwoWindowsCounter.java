package io.github.ratelimit.redis.pipeline;

import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;

/**
 * {@code sliding-window-counter}: the counts of the present window and of the one before,
 * which may be known. Shortly before the window ends, what others have counted in the
 * next one counts as well.
 */
final class TwoWindowsCounter extends Counter {

	private final PastCounts pastCounts;

	private final long start;

	private final String previousKey;

	private final @Nullable Long known;

	TwoWindowsCounter(CountedLimit of, PastCounts pastCounts) {
		super(of);
		this.pastCounts = pastCounts;
		this.start = of.time().micros() - of.time().micros() % of.window();
		this.keys.add(key(this.start));
		this.previousKey = key(this.start - of.window());
		this.known = isSettled() ? pastCounts.get(this.previousKey, of.time()) : null;
		if (this.known == null) {
			this.keys.add(this.previousKey);
		}
		long next = this.start + of.window();
		if (of.time().micros() + of.overtaking() >= next) {
			this.keys.add(key(next));
		}
	}

	private String key(long start) {
		return this.of.key(this.of.limit().windowText(), start / 1000);
	}

	/** Whether nobody takes the window before for the present one any more. */
	private boolean isSettled() {
		return this.of.time().micros() - this.start >= this.of.time().overtaking();
	}

	@Override
	long ttlMillis() {
		return this.of.time().ttlMillisUntil(this.start + 2 * this.of.window());
	}

	@Override
	void accept(Transaction transaction) {
		super.accept(transaction);
		if (this.known == null && isSettled()) {
			this.pastCounts.put(this.previousKey, possible(this.counts[1]));
		}
	}

	@Override
	Meter meter(long[] counts) {
		int others = (this.known == null) ? 2 : 1;
		long previous = (this.known != null) ? this.known : counts[1];
		long next = (counts.length > others) ? counts[others] : 0;
		return this.of.meter(this.start, previous, possible(counts[0] + next));
	}

}
