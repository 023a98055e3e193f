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
 * A part of the quota of one policy and identifier that the store has counted. It ends no
 * later than the first window that the store counted it in. Times are those of
 * {@link System#nanoTime()}. Safe for use by several threads.
 */
final class Lease {

	/** What {@link #take} returns if it takes nothing. */
	static final long NOTHING = -1;

	private static final long CLOSED = -1;

	/** By this fraction it ends earlier, because clocks may differ by 500 ppm each. */
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
	 * @param longest how many nanoseconds it lasts at most
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

	/** When they end, by the clock of the store; none if that is unknown. */
	private List<Instant> windows() {
		Instant at = reservedAt();
		return (at != null) ? counted().stream().map((status) -> at.plus(status.resetAfter())).toList() : List.of();
	}

	/** What is left; {@link #NOTHING} if that is less than the cost, or it has ended. */
	long take(long cost, long now) {
		while (has(cost, now)) {
			long before = this.left.get();
			if (before >= cost && this.left.compareAndSet(before, before - cost)) {
				return before - cost;
			}
		}
		return NOTHING;
	}

	boolean has(long cost, long now) {
		return this.end - now > 0 && this.left.get() >= cost;
	}

	/** Has no effect if it is closed, or would then have more than it ever had. */
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

	/** Adds what was left of a closed lease, unless this is closed as well. */
	synchronized boolean add(long rest) {
		this.granted += rest;
		return put(rest);
	}

	synchronized boolean takeOut(long surplus, long now) {
		boolean taken = take(surplus, now) != NOTHING;
		this.surplus += taken ? surplus : 0;
		return taken;
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

	private static long nanos(Duration time) {
		return TimeUnit.NANOSECONDS.convert(time);
	}

}
