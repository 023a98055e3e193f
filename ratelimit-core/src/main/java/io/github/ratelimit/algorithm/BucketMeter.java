package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.function.ToLongFunction;

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
 * quota or loses it.
 */
final class BucketMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	private final long[] sizes;

	private final long[] empty;

	private final long[] part;

	private boolean corrected;

	BucketMeter(List<Limit> limits, @Nullable MeterState stored, long now, ToLongFunction<Limit> size) {
		long[] state = (stored != null) ? stored.numbers() : null;
		this.limits = limits;
		this.now = now;
		this.sizes = limits.stream().mapToLong(size).toArray();
		this.empty = new long[limits.size()];
		this.part = new long[limits.size()];
		for (int i = 0; i < limits.size(); i++) {
			this.empty[i] = now;
			if (state != null && quota(i) > 0) {
				this.empty[i] = state[2 * i];
				this.part[i] = Math.min(state[2 * i + 1], quota(i) - 1);
				if (clamp(i)) {
					// The clock was set back, or the bucket was larger.
					this.corrected = true;
				}
			}
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = draining(limit, this.sizes[limit] - cost);
		long roomPart = drainingPart(limit, this.sizes[limit] - cost);
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
				this.empty[i] += draining(i, used);
				this.part[i] += drainingPart(i, used);
				if (this.part[i] >= quota(i)) {
					this.empty[i]++;
					this.part[i] -= quota(i);
				}
				clamp(i);
			}
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.empty.length; i++) {
			if (quota(i) > 0) {
				long back = Math.min(cost, this.sizes[i]);
				this.empty[i] -= draining(i, back);
				this.part[i] -= drainingPart(i, back);
				if (this.part[i] < 0) {
					this.empty[i]--;
					this.part[i] += quota(i);
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
		// About so many, and then exactly.
		long remaining = size - (long) ((this.empty[limit] - this.now + (double) this.part[limit] / quota(limit))
				/ window(limit) * quota(limit));
		remaining = Math.max(0, Math.min(size, remaining));
		while (remaining < size && retryAfter(limit, remaining + 1) == 0) {
			remaining++;
		}
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
		long[] state = new long[2 * this.empty.length];
		for (int i = 0; i < this.empty.length; i++) {
			state[2 * i] = this.empty[i];
			state[2 * i + 1] = this.part[i];
		}
		return MeterState.of(state);
	}

	/** Time that a cost takes to drain, in whole microseconds. */
	private long draining(int limit, long cost) {
		long rest = cost * (window(limit) % quota(limit));
		return cost * (window(limit) / quota(limit)) + rest / quota(limit);
	}

	/** Parts of a microsecond that a cost takes to drain besides. */
	private long drainingPart(int limit, long cost) {
		return cost * (window(limit) % quota(limit)) % quota(limit);
	}

	/** No bucket is more than full or less than empty. */
	private boolean clamp(int limit) {
		long full = this.now + draining(limit, this.sizes[limit]);
		long fullPart = drainingPart(limit, this.sizes[limit]);
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

	private long quota(int limit) {
		return this.limits.get(limit).quota();
	}

	private long window(int limit) {
		return this.limits.get(limit).windowMicros();
	}

}
