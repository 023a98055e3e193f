package io.github.ratelimit.lease;

import java.time.Duration;
import java.time.Instant;
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

	private final Reservation reservation;

	private final long answered;

	private final long end;

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
		this.reservation = reservation;
		this.answered = answered;
		long lasts = longest;
		for (LimitStatus status : counted()) {
			long reset = nanos(status.resetAfter());
			lasts = Math.min(lasts, reset - reset / DRIFT);
		}
		this.end = asked + lasts;
		this.left = new AtomicLong(part);
		this.granted = part;
		this.low = part / 4;
	}

	/** When the store counted it; {@code null} if it cannot be given back. */
	@Nullable Instant reservedAt() {
		return this.reservation.at();
	}

	/** What the store had left, and when the windows end. */
	private List<LimitStatus> counted() {
		return this.reservation.decision().statuses();
	}

	private static long nanos(Duration time) {
		return TimeUnit.NANOSECONDS.convert(time);
	}

	long lasts(long now) {
		return this.end - now;
	}

	/** Returns whether a window has not ended yet, so that giving back has an effect. */
	boolean isCounted(long now) {
		return counted().stream().anyMatch((status) -> nanos(status.resetAfter()) > now - this.answered);
	}

	boolean hasWindowsOf(Lease other) {
		return windows().equals(other.windows()) && !windows().isEmpty();
	}

	/**
	 * Returns when the windows end, by the clock of the store; none if that is unknown.
	 */
	private List<Instant> windows() {
		Instant at = reservedAt();
		return (at != null) ? counted().stream().map((status) -> at.plus(status.resetAfter())).toList() : List.of();
	}

	/** What is left; {@link #NOTHING} if that is less than the cost, or it has ended. */
	long take(long cost, long now) {
		if (this.end - now <= 0) {
			return NOTHING;
		}
		long before = this.left.getAndAccumulate(cost, (held, used) -> (held < used) ? held : held - used);
		return (before < cost) ? NOTHING : before - cost;
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
		List<LimitStatus> counted = counted();
		if (counted.size() == 1) {
			return List.of(status(counted.get(0), policy, identifier, now));
		}
		return counted.stream().map((status) -> status(status, policy, identifier, now)).toList();
	}

	private LimitStatus status(LimitStatus counted, Policy policy, Identifier identifier, long now) {
		long reset = Math.max(0, nanos(counted.resetAfter()) - (now - this.answered));
		return LimitStatus.ofMicros(policy, identifier, counted.limit(), counted.remaining() + left() + this.surplus,
				(reset + MICROS - 1) / MICROS, 0, false);
	}

}
