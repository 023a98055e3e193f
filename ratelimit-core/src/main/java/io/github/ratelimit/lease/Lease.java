package io.github.ratelimit.lease;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.Reservation;
import org.jspecify.annotations.Nullable;

/**
 * A part of the quota of one policy and identifier that the store has counted, and that
 * may be used until it ends. Safe for use by several threads, without locks.
 * <p>
 * It ends no later than the first window that the store counted it in. Times are those of
 * {@link System#nanoTime()}.
 */
final class Lease {

	/** What {@link #take} returns if it takes nothing. */
	static final long NOTHING = -1;

	private static final long CLOSED = -1;

	/**
	 * A lease ends earlier by this fraction, because clocks may run at different speeds:
	 * 500 ppm each, by NTP.
	 */
	private static final long DRIFT = 512;

	private static final long MICROS = 1000;

	private final @Nullable Instant reservedAt;

	private final long end;

	/** For each limit what the store had left. */
	private final long[] remaining;

	/** For each limit when its window ends. */
	private final long[] resets;

	/** For each limit when its window ends, by the clock of the store. */
	private final long[] windows;

	private final AtomicLong left;

	private volatile long granted;

	/** What was taken out of it to be given back. */
	private volatile long surplus;

	/** When so little is left, the next part is to be taken. */
	private volatile long low;

	/**
	 * Given when the store was asked, when it answered, and how many nanoseconds it lasts
	 * at most.
	 */
	Lease(Reservation reservation, long part, long asked, long answered, long longest) {
		List<LimitStatus> statuses = reservation.decision().statuses();
		this.reservedAt = reservation.at();
		this.remaining = new long[statuses.size()];
		this.resets = new long[statuses.size()];
		this.windows = new long[statuses.size()];
		long lasts = longest;
		for (int i = 0; i < this.resets.length; i++) {
			LimitStatus status = statuses.get(i);
			long reset = TimeUnit.NANOSECONDS.convert(status.resetAfter());
			this.remaining[i] = status.remaining();
			this.resets[i] = answered + reset;
			this.windows[i] = (this.reservedAt != null)
					? ChronoUnit.MICROS.between(Instant.EPOCH, this.reservedAt) + reset / MICROS : 0;
			lasts = Math.min(lasts, reset - reset / DRIFT);
		}
		this.end = asked + lasts;
		this.left = new AtomicLong(part);
		this.granted = part;
		this.low = part / 4;
	}

	/** When the store counted it; {@code null} if it cannot be given back. */
	@Nullable Instant reservedAt() {
		return this.reservedAt;
	}

	long lasts(long now) {
		return this.end - now;
	}

	/** Returns whether a window has not ended yet, so that giving back has an effect. */
	boolean isCounted(long now) {
		for (long reset : this.resets) {
			if (reset - now > 0) {
				return true;
			}
		}
		return false;
	}

	boolean hasWindowsOf(Lease other) {
		return this.reservedAt != null && other.reservedAt != null && Arrays.equals(this.windows, other.windows);
	}

	/** What is left; {@link #NOTHING} if that is less than the cost, or it has ended. */
	long take(long cost, long now) {
		if (this.end - now <= 0) {
			return NOTHING;
		}
		long before;
		do {
			before = this.left.get();
			if (before < cost) {
				return NOTHING;
			}
		}
		while (!this.left.compareAndSet(before, before - cost));
		return before - cost;
	}

	boolean has(long cost, long now) {
		return this.end - now > 0 && this.left.get() >= cost;
	}

	/**
	 * Returns whether it was put back; not if it would then have more than it ever had,
	 * or is closed.
	 */
	boolean put(long cost) {
		long before;
		do {
			before = this.left.get();
			if (before == CLOSED || this.granted - before < cost) {
				return false;
			}
		}
		while (!this.left.compareAndSet(before, before + cost));
		return true;
	}

	/**
	 * Adds what was left of a closed lease, unless this is closed as well. One thread
	 * does.
	 */
	boolean add(long rest) {
		long all = this.granted + rest;
		this.granted = all;
		return put(rest);
	}

	boolean takeOut(long surplus, long now) {
		if (take(surplus, now) == NOTHING) {
			return false;
		}
		long all = this.surplus + surplus;
		this.surplus = all;
		return true;
	}

	/** Closes it: nothing can be taken or put back any more. Returns what was left. */
	long close() {
		return Math.max(0, this.left.getAndSet(CLOSED));
	}

	long left() {
		return Math.max(0, this.left.get());
	}

	boolean isLow(long left) {
		return left < this.low;
	}

	/** No longer says that it is low, because no other part can be taken. */
	void ignoreLow() {
		this.low = 0;
	}

	List<LimitStatus> statuses(Policy policy, Identifier identifier, long now) {
		if (this.remaining.length == 1) {
			return List.of(status(0, policy, identifier, now));
		}
		LimitStatus[] statuses = new LimitStatus[this.remaining.length];
		for (int i = 0; i < statuses.length; i++) {
			statuses[i] = status(i, policy, identifier, now);
		}
		return List.of(statuses);
	}

	private LimitStatus status(int limit, Policy policy, Identifier identifier, long now) {
		long reset = Math.max(0, this.resets[limit] - now);
		return LimitStatus.ofMicros(policy, identifier, policy.limits().get(limit),
				this.remaining[limit] + left() + this.surplus, (reset + MICROS - 1) / MICROS, 0, false);
	}

}
