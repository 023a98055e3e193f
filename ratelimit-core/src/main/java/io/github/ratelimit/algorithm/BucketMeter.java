package io.github.ratelimit.algorithm;

import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * {@code leaky-bucket} and {@code token-bucket} in plain Java; {@code bucket.lua} is the
 * same for Redis.
 * <p>
 * State: for each limit the time at which its bucket will be empty, in microseconds and
 * parts of a microsecond, of which there are as many as the quota. So no rounding mints
 * quota or loses it. Where a size of its own makes that time depend on the quota, the
 * quota is kept as well. While a quota is 0 its bucket is left as it was, by the quota
 * that it had, and goes on to drain. Of buckets that were charged until one is more than
 * full, at most twice, the time of the last change is kept besides, because otherwise it
 * would look as if the clock had been set back.
 */
final class BucketMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	private final long[] sizes;

	/** The size of the bucket if that is not the quota. */
	private final @Nullable Long burst;

	private final long[] empty;

	private final long[] part;

	/** By which quotas the times are kept. */
	private final long[] rates;

	/** Whether it may be more than full. */
	private boolean charged;

	private boolean corrected;

	BucketMeter(List<Limit> limits, @Nullable MeterState stored, long now, @Nullable Long burst) {
		int width = (burst != null) ? 3 : 2;
		long[] state = (stored != null) ? stored.numbers() : null;
		this.limits = limits;
		this.now = now;
		this.burst = burst;
		this.sizes = (burst != null) ? new long[] { burst } : limits.stream().mapToLong(Limit::quota).toArray();
		this.empty = new long[limits.size()];
		this.part = new long[limits.size()];
		this.rates = limits.stream().mapToLong(Limit::quota).toArray();
		// If the clock was set back since, nobody knows how much more than full it is.
		this.charged = state != null && state.length > width * limits.size() && state[width * limits.size()] <= now;
		for (int i = 0; i < limits.size(); i++) {
			this.empty[i] = now;
			if (state != null) {
				this.empty[i] = state[width * i];
				this.part[i] = state[width * i + 1];
				if (burst != null) {
					this.rates[i] = state[width * i + 2];
				}
				if (this.rates[i] > 0) {
					this.part[i] = Math.min(this.part[i], this.rates[i] - 1);
				}
				if (clamp(i, this.charged ? 2 : 1)) {
					// The clock was set back.
					this.corrected = true;
				}
				if (quota(i) > 0 && this.rates[i] != quota(i)) {
					convert(i);
					this.corrected = true;
				}
			}
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = draining(limit, quota(limit), this.sizes[limit] - cost);
		long roomPart = drainingPart(limit, quota(limit), this.sizes[limit] - cost);
		long wait = this.empty[limit] - this.now - room;
		if (this.part[limit] > roomPart) {
			wait++;
		}
		return Math.max(0, wait);
	}

	@Override
	public void add(long cost, String metadata) {
		fill(cost, 1);
	}

	@Override
	public void charge(long cost, String metadata) {
		this.charged = true;
		fill(cost, 2);
	}

	/** Fills buckets no more than full so many times, or than they were before. */
	private void fill(long cost, int times) {
		for (int i = 0; i < this.empty.length; i++) {
			if (quota(i) > 0) {
				long emptyBefore = this.empty[i];
				long partBefore = this.part[i];
				long used = Math.min(cost, this.sizes[i]);
				this.empty[i] += draining(i, this.rates[i], used);
				this.part[i] += drainingPart(i, this.rates[i], used);
				if (this.part[i] >= this.rates[i]) {
					this.empty[i]++;
					this.part[i] -= this.rates[i];
				}
				if (clamp(i, times) && isLess(i, emptyBefore, partBefore)) {
					this.empty[i] = emptyBefore;
					this.part[i] = partBefore;
				}
			}
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.empty.length; i++) {
			if (this.rates[i] > 0) {
				long back = Math.min(cost, this.sizes[i]);
				this.empty[i] -= draining(i, this.rates[i], back);
				this.part[i] -= drainingPart(i, this.rates[i], back);
				if (this.part[i] < 0) {
					this.empty[i]--;
					this.part[i] += this.rates[i];
				}
				clamp(i, 2);
			}
		}
	}

	@Override
	public long remaining(int limit) {
		long size = this.sizes[limit];
		if (quota(limit) == 0) {
			return 0;
		}
		// So many or more, never fewer: a double is far less than one token off.
		long remaining = size - (long) ((this.empty[limit] - this.now + (double) this.part[limit] / quota(limit))
				/ window(limit) * quota(limit));
		while (remaining > 0 && retryAfter(limit, remaining) > 0) {
			remaining--;
		}
		return Math.max(0, remaining);
	}

	@Override
	public boolean corrected() {
		return this.corrected;
	}

	@Override
	public long ttl() {
		long ttl = 0;
		for (int i = 0; i < this.empty.length; i++) {
			ttl = Math.max(ttl, this.empty[i] - this.now + ((this.part[i] > 0) ? 1 : 0));
		}
		return ttl;
	}

	@Override
	public MeterState state() {
		int width = (this.burst != null) ? 3 : 2;
		boolean more = this.charged && isMoreThanFull();
		long[] state = new long[width * this.empty.length + (more ? 1 : 0)];
		if (more) {
			state[state.length - 1] = this.now;
		}
		for (int i = 0; i < this.empty.length; i++) {
			state[width * i] = this.empty[i];
			state[width * i + 1] = this.part[i];
			if (this.burst != null) {
				state[width * i + 2] = this.rates[i];
			}
		}
		return MeterState.of(state);
	}

	/** Time that a cost takes to drain, in whole microseconds. */
	private long draining(int limit, long quota, long cost) {
		long rest = cost * (window(limit) % quota);
		return cost * (window(limit) / quota) + rest / quota;
	}

	/** Parts of a microsecond that a cost takes to drain besides. */
	private long drainingPart(int limit, long quota, long cost) {
		return cost * (window(limit) % quota) % quota;
	}

	private boolean isMoreThanFull() {
		for (int i = 0; i < this.empty.length; i++) {
			long emptyBefore = this.empty[i];
			long partBefore = this.part[i];
			if (clamp(i, 1)) {
				this.empty[i] = emptyBefore;
				this.part[i] = partBefore;
				return true;
			}
		}
		return false;
	}

	/** Whether a bucket is less full than it is with this time. */
	private boolean isLess(int limit, long empty, long part) {
		return this.empty[limit] < empty || (this.empty[limit] == empty && this.part[limit] < part);
	}

	/** No bucket is more than full so many times, 1 or 2, or less than empty. */
	private boolean clamp(int limit, int times) {
		// A bucket as large as its quota takes a window, whatever the quota was.
		long full = window(limit);
		long fullPart = 0;
		if (this.rates[limit] > 0) {
			full = draining(limit, this.rates[limit], this.sizes[limit]);
			fullPart = drainingPart(limit, this.rates[limit], this.sizes[limit]);
		}
		if (times > 1) {
			full = 2 * full;
			fullPart = 2 * fullPart;
			if (fullPart > 0 && fullPart >= this.rates[limit]) {
				full++;
				fullPart -= this.rates[limit];
			}
		}
		full = this.now + full;
		if (this.empty[limit] > full || (this.empty[limit] == full && this.part[limit] > fullPart)) {
			this.empty[limit] = full;
			this.part[limit] = fullPart;
			return true;
		}
		if (this.empty[limit] < this.now) {
			this.empty[limit] = this.now;
			this.part[limit] = 0;
		}
		return false;
	}

	/** Makes of the time at another quota the time that the same cost takes at this. */
	private void convert(int limit) {
		long quota = this.rates[limit];
		long time = this.empty[limit] - this.now;
		long rest = time % quota(limit) * quota + this.part[limit];
		this.empty[limit] = this.now + time / quota(limit) * quota + rest / quota(limit);
		this.part[limit] = rest % quota(limit);
		this.rates[limit] = quota(limit);
	}

	private long quota(int limit) {
		return this.limits.get(limit).quota();
	}

	private long window(int limit) {
		return this.limits.get(limit).windowMicros();
	}

}
