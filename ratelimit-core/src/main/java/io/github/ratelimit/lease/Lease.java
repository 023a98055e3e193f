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
	 * By which fraction of the time until a window ends a lease ends earlier, because the
	 * clocks of two machines may run at different speeds: at most 500 ppm each, by NTP.
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

	/** What it had in all. */
	private volatile long granted;

	/** What was taken out of it to be given back. */
	private volatile long surplus;

	/** When so little is left, the next part is to be taken. */
	private volatile long low;

	/**
	 * Creates a lease.
	 * @param reservation the reservation of the part, which was allowed
	 * @param part the part
	 * @param asked when the store was asked
	 * @param answered when it answered
	 * @param longest how long it lasts at most, in nanoseconds
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

	/** Returns the time until it ends, in nanoseconds; negative if it has ended. */
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

	/** Returns whether both were counted in the same windows. */
	boolean hasWindowsOf(Lease other) {
		return this.reservedAt != null && other.reservedAt != null && Arrays.equals(this.windows, other.windows);
	}

	/**
	 * Uses a cost, or nothing.
	 * @return what is left; {@link #NOTHING} if less than the cost was left, or it has
	 * ended
	 */
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

	/** Returns whether it could be used now for a cost. */
	boolean has(long cost, long now) {
		return this.end - now > 0 && this.left.get() >= cost;
	}

	/**
	 * Puts back what was taken from it.
	 * @return whether it was put back; not if it would then have more than it ever had,
	 * or is closed
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
	 * Adds what was left of a closed lease of the same windows. One thread does.
	 * @return whether it was added; not if this lease is closed as well
	 */
	boolean add(long rest) {
		long all = this.granted + rest;
		this.granted = all;
		return put(rest);
	}

	/**
	 * Takes out what is to be given back. One thread does.
	 * @return whether there was so much
	 */
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

	/** Returns what is left. */
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

	/** Returns the status of each limit, as far as this process knows it. */
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
