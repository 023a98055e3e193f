package io.github.ratelimit.lease;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.Reservation;
import org.jspecify.annotations.Nullable;

/**
 * What this process holds of the quota of one policy and identifier, and how much it
 * uses. Requests only take from the lease; all calls of the store are made by the timer.
 * Safe for use by several threads.
 */
final class LeasedQuota {

	/** A part is at most one of so many shares of what is left. */
	private static final int SHARES = 4;

	/** For how many requests a part must suffice, so that taking it saves calls. */
	private static final int WORTH = 10;

	private final Policy policy;

	/** Without penalty: nobody is denied if a part is. */
	private final Policy reserved;

	private final Identifier identifier;

	private final RateLimiter store;

	private final BackgroundTimer timer;

	private final LongSupplier nanos;

	private final long time;

	private volatile @Nullable Lease lease;

	private final AtomicBoolean taking = new AtomicBoolean();

	/** What was used here and is not used again, apart from what is left of the lease. */
	private long total;

	private final RecentUse usage;

	/** What the store has said last, and when. */
	private List<LimitStatus> statuses = List.of();

	private long told;

	/** Whether no further part may be used. */
	private boolean ended;

	/** Whether the count of which it holds a part no longer exists. */
	private volatile boolean forgotten;

	LeasedQuota(Policy policy, Identifier identifier, long time, RateLimiter store, BackgroundTimer timer,
			LongSupplier nanos) {
		this.policy = policy;
		this.reserved = policy.withPenalty(null);
		this.identifier = identifier;
		this.store = store;
		this.timer = timer;
		this.nanos = nanos;
		this.time = time;
		this.usage = new RecentUse(time);
	}

	boolean isOf(Policy policy) {
		return this.policy == policy || this.policy.equals(policy);
	}

	boolean isOf(Identifier identifier, @Nullable String policy) {
		return this.identifier.equals(identifier) && (policy == null || this.policy.name().equals(policy));
	}

	boolean isEmpty() {
		Lease lease = this.lease;
		return (lease == null || lease.lasts(this.nanos.getAsLong()) <= 0) && !this.taking.get();
	}

	/** Uses nothing. A cost of 0 asks the store, which knows the blocks. */
	@Nullable Lease look(long cost, long now) {
		Lease lease = this.lease;
		return (lease != null && cost > 0 && lease.has(cost, now)) ? lease : null;
	}

	/** Uses a cost of the lease; {@code null} if it has not enough. */
	@Nullable Lease take(long cost, long now) {
		Lease lease = this.lease;
		if (lease == null) {
			return null;
		}
		long left = lease.take(cost, now);
		if (left == Lease.NOTHING) {
			return null;
		}
		if (lease.isLow(left)) {
			takeMore(cost, now);
		}
		return lease;
	}

	/** Refunds a cost to the lease; {@code null} if the store has to refund it. */
	@Nullable Lease refund(long cost, long now) {
		Lease lease = this.lease;
		if (lease != null && lease.has(0, now) && lease.put(cost)) {
			return lease;
		}
		notUsed(cost);
		return null;
	}

	private synchronized void notUsed(long cost) {
		this.total -= cost;
	}

	/** Puts back what was taken from a lease that may have been closed since. */
	void putBack(Lease lease, long cost) {
		if (!lease.put(cost)) {
			this.timer.schedule(() -> {
				notUsed(cost);
				giveBack(lease, cost);
			}, 0);
		}
	}

	void decided(Decision decision, long cost) {
		long now = this.nanos.getAsLong();
		note(decision, now);
		if (decision.allowed()) {
			synchronized (this) {
				this.usage.sample(now, used());
				this.total += cost;
			}
			takeMore(cost, now);
		}
	}

	private synchronized void note(Decision decision, long now) {
		this.statuses = decision.statuses();
		this.told = now;
	}

	/** Returns the share of what is left, or of the whole quota if that is not known. */
	private long share(long now) {
		long left = Long.MAX_VALUE;
		for (Limit limit : this.policy.limits()) {
			long own = limit.quota();
			for (LimitStatus status : this.statuses) {
				boolean says = isOf(status.identifier(), status.policy().name()) && status.limit().equals(limit);
				if (says && TimeUnit.NANOSECONDS.convert(status.resetAfter()) > now - this.told) {
					own = status.remaining();
				}
			}
			left = Math.min(left, own);
		}
		return left / SHARES;
	}

	private void takeMore(long cost, long now) {
		if (this.taking.get() || !this.taking.compareAndSet(false, true)) {
			return;
		}
		if (part(cost, now) == 0) {
			Lease lease = this.lease;
			if (lease != null) {
				lease.ignoreLow();
			}
			this.taking.set(false);
			return;
		}
		if (!this.timer.schedule(() -> take(cost), 0)) {
			// The next request tries again.
			this.taking.set(false);
		}
	}

	/**
	 * What was used lately, less what is left, and at most a share of the rest; 0 if not
	 * worth it.
	 */
	private synchronized long part(long cost, long now) {
		Lease lease = this.lease;
		long held = (lease != null && lease.lasts(now) > 0) ? lease.left() : 0;
		long part = this.ended ? 0 : this.usage.lately(now, used()) - held;
		part = Math.min(part, share(now));
		return (part / WORTH >= Math.max(1, cost)) ? part : 0;
	}

	/** Without an answer nothing is used of the part. */
	private void take(long cost) {
		try {
			long asked = this.nanos.getAsLong();
			long part = part(cost, asked);
			if (part == 0) {
				return;
			}
			Reservation reservation = this.store.reserve(this.reserved, this.identifier, part);
			long answered = this.nanos.getAsLong();
			Decision decision = reservation.decision();
			note(decision, answered);
			if (!decision.allowed()) {
				return;
			}
			// A store of an application may answer with limits of another policy.
			boolean says = decision.statuses().stream().map(LimitStatus::limit).toList().equals(this.policy.limits());
			if (says && decision.source() == Source.STORE) {
				use(new Lease(reservation, part, asked, answered, 2 * this.time), part);
				return;
			}
			synchronized (this) {
				this.ended |= !says && decision.source() == Source.STORE;
			}
			if (reservation.at() != null) {
				this.store.cancel(this.reserved, this.identifier, part, reservation.at());
			}
		}
		finally {
			this.taking.set(false);
		}
	}

	private void use(Lease next, long part) {
		Lease before;
		long rest = 0;
		synchronized (this) {
			before = this.ended ? next : this.lease;
			if (!this.ended) {
				this.lease = next;
				this.total += part;
			}
			if (before != null) {
				rest = before.close();
				if (before != next) {
					rest = (next.hasWindowsOf(before) && next.add(rest)) ? 0 : rest;
					this.total -= rest;
				}
			}
		}
		try {
			if (before != null) {
				giveBack(before, rest);
			}
		}
		finally {
			if (before != next) {
				checkLater(next);
			}
		}
	}

	/** Twice in the time that a part is meant to last, and shortly before it ends. */
	private void checkLater(Lease lease) {
		long lasts = Math.max(0, lease.lasts(this.nanos.getAsLong()));
		this.timer.schedule(() -> check(lease), (lasts > this.time / 8) ? Math.min(this.time, lasts) / 2 : lasts);
	}

	private void check(Lease lease) {
		long surplus;
		synchronized (this) {
			if (this.lease != lease) {
				return;
			}
			surplus = surplus(lease);
			this.total -= surplus;
		}
		try {
			giveBack(lease, surplus);
		}
		finally {
			if (this.lease == lease) {
				checkLater(lease);
			}
		}
	}

	private long surplus(Lease lease) {
		long now = this.nanos.getAsLong();
		long left = lease.left();
		long used = used();
		this.usage.sample(now, used);
		long needed = (lease.lasts(now) > 0) ? this.usage.expected(now, used, lease.lasts(now)) : 0;
		if (needed == 0) {
			this.lease = null;
			return lease.close();
		}
		long surplus = left - needed;
		return (needed < left / 2 && lease.takeOut(surplus, now)) ? surplus : 0;
	}

	private long used() {
		Lease lease = this.lease;
		return this.total - ((lease != null) ? lease.left() : 0);
	}

	/** What cannot be given back is used until its window ends. */
	private void giveBack(Lease lease, long cost) {
		if (cost > 0 && lease.reservedAt() != null && lease.isCounted(this.nanos.getAsLong()) && !this.forgotten) {
			this.store.cancel(this.reserved, this.identifier, cost, lease.reservedAt());
		}
	}

	/** Ends it for ever. Returns a task that gives back what was left. */
	synchronized Runnable end() {
		this.ended = true;
		Lease last = this.lease;
		this.lease = null;
		if (last == null) {
			return () -> {
			};
		}
		long rest = last.close();
		return () -> giveBack(last, rest);
	}

	/** Ends it for ever, because the count no longer exists: nothing is given back. */
	synchronized void forget() {
		this.forgotten = true;
		end();
	}

}
