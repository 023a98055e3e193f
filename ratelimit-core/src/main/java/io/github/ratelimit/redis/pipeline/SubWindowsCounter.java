package io.github.ratelimit.redis.pipeline;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;

/**
 * {@code sliding-window}: a count for each sub-window, from the newest to the oldest.
 * Limits of one precision share them, as do all limits if the precision is an option;
 * otherwise each limit has sub-windows of a sixtieth of its own window.
 * <p>
 * Of requests that share a window, the one that is counted last sees all others, because
 * sub-windows ahead of it are read as well, as far as it may have been overtaken. What is
 * ahead because the clock was set back is moved to the present.
 */
final class SubWindowsCounter extends Counter {

	/** How many counts of a window are read at most. */
	static final int MAX_SUB_WINDOWS = 1000;

	/** What stands in the state before the entries: where they are, and their base. */
	private static final int HEADER = 4;

	private final long precision;

	/** The longest window of this precision. */
	private final long longest;

	private final long end;

	SubWindowsCounter(CountedLimit of) {
		super(of);
		this.precision = PlainAlgorithm.precision(of.policy(), of.limit());
		this.longest = of.policy()
			.limits()
			.stream()
			.filter((limit) -> PlainAlgorithm.precision(of.policy(), limit) == this.precision)
			.mapToLong(Limit::windowMicros)
			.max()
			.orElseThrow();
		Time time = of.time();
		long ahead = Math.min(Math.max(time.overtaking(), time.latest() - time.micros()), this.longest);
		this.end = endAt(time.micros());
		long newest = endAt(time.micros() + ahead);
		this.present = (int) ((newest - this.end) / this.precision);
		for (long end = newest; end > time.micros() - this.longest; end -= this.precision) {
			this.keys.add(of.key(this.precision / 1000, end / 1000));
		}
	}

	private long endAt(long time) {
		return time - time % this.precision + this.precision;
	}

	/**
	 * Refuses a limit with more sub-windows than are read.
	 * @throws IllegalArgumentException if there are more
	 */
	static void requireSupported(Policy policy, Limit limit) {
		long precision = PlainAlgorithm.precision(policy, limit);
		if (limit.windowMicros() / precision > MAX_SUB_WINDOWS) {
			throw new IllegalArgumentException(
					"Invalid precision (%dms): the window of %s would have %d sub-windows, more than the %d that can be read without scripting; set a longer precision."
						.formatted(precision / 1000, limit, limit.windowMicros() / precision, MAX_SUB_WINDOWS));
		}
	}

	@Override
	long ttlMillis() {
		return this.of.time().ttlMillisUntil(this.end + this.longest);
	}

	@Override
	void settle(Transaction transaction, boolean stays, Time later) {
		super.settle(transaction, stays, later);
		long moved = 0;
		for (int k = this.present - 1; k >= 0 && end(k) <= endAt(this.of.time().latest()); k--) {
			giveBack(transaction, this.keys.get(k), this.counts[k]);
			moved += Math.max(0, this.counts[k]);
		}
		if (moved > 0) {
			increment(transaction, moved);
		}
	}

	@Override
	void refund(Transaction transaction, Time later) {
		long left = this.of.cost();
		for (int k = 0; k < this.counts.length && left > 0; k++) {
			long back = Math.max(0, Math.min(left, this.counts[k]));
			giveBack(transaction, this.keys.get(k), back);
			left -= back;
		}
	}

	/** End of one of the sub-windows that are read. */
	private long end(int k) {
		return this.end + (this.present - k) * this.precision;
	}

	/** A log of the sub-windows, of which those ahead count as present. */
	@Override
	Meter meter(long[] counts) {
		long[] state = new long[HEADER + 2 * counts.length];
		state[0] = 2;
		state[1] = state.length;
		long total = 0;
		for (int k = counts.length - 1, i = HEADER; k >= 0; k--, i += 2) {
			total += counts[k];
			state[i] = end(k);
			state[i + 1] = total;
		}
		return this.of.meter(state);
	}

}
