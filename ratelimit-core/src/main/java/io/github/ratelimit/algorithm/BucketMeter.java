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
 * that it had, and goes on to drain.
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
				if (clamp(i)) {
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
		for (int i = 0; i < this.empty.length; i++) {
			if (quota(i) > 0) {
				long used = Math.min(cost, this.sizes[i]);
				this.empty[i] += draining(i, this.rates[i], used);
				this.part[i] += drainingPart(i, this.rates[i], used);
				if (this.part[i] >= this.rates[i]) {
					this.empty[i]++;
					this.part[i] -= this.rates[i];
				}
				clamp(i);
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
				clamp(i);
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
		return remaining;
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
		long[] state = new long[width * this.empty.length];
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

	/** No bucket is more than full or less than empty. */
	private boolean clamp(int limit) {
		// A bucket as large as its quota takes a window, whatever the quota was.
		long full = window(limit);
		long fullPart = 0;
		if (this.rates[limit] > 0) {
			full = draining(limit, this.rates[limit], this.sizes[limit]);
			fullPart = drainingPart(limit, this.rates[limit], this.sizes[limit]);
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
