package io.github.ratelimit.redis.pipeline;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;

/**
 * Counts in windows that are aligned to the clock, with a Redis key for each, from the
 * newest to the oldest that matters: one for {@code fixed-window}, two for
 * {@code sliding-window-counter}, and one for each sub-window of {@code sliding-window}.
 * Limits with sub-windows of one length share them.
 * <p>
 * Of the requests in a window, the one counted last sees all others, because later
 * windows are read as well, if requests counted earlier may be in them. These requests
 * count as made now.
 */
final class AlignedCounter extends Counter {

	private static final int MAX_SUB_WINDOWS = 1000;

	/** The length of the header of a log, before its entries. */
	private static final int HEADER = 4;

	private final String key;

	private final long length;

	/** How long a window matters after its end. */
	private final long reach;

	/** The end of the current window. */
	private final long end;

	/** Counts that are final, by Redis key. */
	private final Map<String, Long> pastCounts;

	private final @Nullable Long previous;

	AlignedCounter(Charge charge, Identifier identifier, Limit limit, String key, int slot, Time time,
			Map<String, Long> pastCounts) {
		super(charge, identifier, limit, slot, time);
		this.length = length(charge.policy(), limit);
		this.key = key + ':' + ((limit.calendar() != null) ? limit.windowText() : this.length / 1000) + ':';
		this.reach = reach(charge.policy(), limit);
		this.end = endAt(time.micros());
		this.pastCounts = pastCounts;
		this.previous = isPreviousWindowFinal() ? pastCounts.get(key(this.end - this.length)) : null;
		long newest = endAt(time.micros() + Math.min(time.overtaking(), this.reach));
		long oldest = (this.reach == 0 || this.previous != null) ? this.end - 1 : time.micros() - this.reach;
		for (long each = newest; each > oldest; each -= this.length) {
			this.keys.add(key(each));
		}
		this.present = (int) ((newest - this.end) / this.length);
	}

	private String key(long end) {
		return this.key + end / 1000;
	}

	private static long length(Policy policy, Limit limit) {
		return (algorithm(policy, limit) instanceof SlidingWindow sliding)
				? 1000 * Objects.requireNonNull(sliding.precision()).toMillis() : limit.windowMicros();
	}

	static void requireSupported(Policy policy, Limit limit) {
		long length = length(policy, limit);
		if (limit.windowMicros() / length > MAX_SUB_WINDOWS) {
			throw new IllegalArgumentException(
					"Invalid precision (%sms): the window of %s would have %s sub-windows, more than the %s that can be read without scripting; set a longer precision."
						.formatted(length / 1000, limit, limit.windowMicros() / length, MAX_SUB_WINDOWS));
		}
	}

	/** Limits that share sub-windows read those of the longest window. */
	private static long reach(Policy policy, Limit limit) {
		if (policy.algorithm() instanceof FixedWindow) {
			return 0;
		}
		boolean shared = policy.algorithm() instanceof SlidingWindow sliding && sliding.precision() != null;
		return (shared ? policy.limits().get(policy.limits().size() - 1) : limit).windowMicros();
	}

	/** Days and months differ in length, so their ends come from the algorithm. */
	private long endAt(long micros) {
		return (this.reach > 0) ? micros - micros % this.length + this.length : meterOf().state().numbers()[0];
	}

	private boolean isEstimated() {
		return this.charge.policy().algorithm() instanceof SlidingWindowCounter;
	}

	/** Returns whether no process counts in the previous window any more. */
	private boolean isPreviousWindowFinal() {
		return isEstimated() && this.time.micros() - (this.end - this.length) >= this.time.overtaking();
	}

	@Override
	long ttlMillis() {
		return this.time.ttlMillis(this.end + this.reach + this.time.overtaking() - this.time.micros());
	}

	@Override
	void increment(Transaction transaction) {
		super.increment(transaction);
		transaction.add(Command.PEXPIRE, presentKey(), ttlMillis());
	}

	@Override
	void accept(@Nullable Object reply) {
		super.accept(reply);
		if (this.previous == null && isPreviousWindowFinal()) {
			this.pastCounts.put(key(this.end - this.length), this.counts[this.present + 1]);
		}
	}

	/** All counts, but not the previous window of an estimate. */
	@Override
	int oldestToRefund() {
		return isEstimated() ? this.present : this.counts.length - 1;
	}

	@Override
	Meter meter() {
		long current = possible(Arrays.stream(this.counts, 0, this.present + 1).sum());
		if (this.reach == 0) {
			return meterOf(this.end, current);
		}
		if (isEstimated()) {
			return meterOf(this.end - this.length,
					(this.previous != null) ? this.previous : this.counts[this.present + 1], current);
		}
		long[] state = new long[HEADER + 2 * (this.counts.length - this.present)];
		state[0] = 2;
		state[1] = state.length;
		long total = 0;
		for (int k = this.counts.length - 1, i = HEADER; k >= this.present; k--, i += 2) {
			total += (k > this.present) ? this.counts[k] : current;
			state[i] = this.end - (k - this.present) * this.length;
			state[i + 1] = total;
		}
		return meterOf(state);
	}

}
