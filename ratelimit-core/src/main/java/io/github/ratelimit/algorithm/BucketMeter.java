package io.github.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * {@code leaky-bucket} and {@code token-bucket} in plain Java; {@code bucket.lua} is the
 * same for Redis.
 * <p>
 * State: for each limit the time at which its bucket will be empty, in microseconds and
 * fractions of a microsecond. A microsecond has as many fractions as the quota, so that
 * rounding neither creates nor loses quota. If the bucket has a separate size, this time
 * depends on the quota, and the quota is stored as well. While a quota is 0, its bucket
 * drains at the previous quota. While charges overdraw a bucket, up to twice its size,
 * the time of the last change is stored too; otherwise it would look as if the clock had
 * been set back.
 */
final class BucketMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	/** Whether the size of buckets differs from the quota. */
	private final boolean sized;

	private final long[] sizes;

	/** The quotas at which the buckets drain. */
	private final long[] rates;

	/** The times until the buckets are empty. */
	private final Time[] left;

	/** Whether buckets may be overdrawn. */
	private boolean charged;

	private boolean corrected;

	BucketMeter(List<Limit> limits, @Nullable MeterState stored, long now, @Nullable Long burst) {
		this.limits = limits;
		this.now = now;
		this.sized = burst != null;
		this.rates = limits.stream().mapToLong(Limit::quota).toArray();
		this.sizes = (burst != null) ? new long[] { burst } : this.rates.clone();
		this.left = new Time[limits.size()];
		Arrays.fill(this.left, Time.ZERO);
		if (stored != null) {
			read(stored.numbers());
		}
	}

	private void read(long[] state) {
		int width = width();
		// If the clock was set back since, it is unknown by how much it is overdrawn.
		this.charged = state.length > width * this.left.length && state[width * this.left.length] <= this.now;
		for (int i = 0; i < this.left.length; i++) {
			if (this.sized) {
				this.rates[i] = state[width * i + 2];
			}
			long rate = this.rates[i];
			long fraction = state[width * i + 1];
			Time time = new Time(state[width * i] - this.now, (rate > 0) ? Math.min(fraction, rate - 1) : fraction);
			Time most = full(i, this.charged ? 2 : 1);
			if (time.isLongerThan(most)) {
				// The clock was set back.
				time = most;
				this.corrected = true;
			}
			this.left[i] = time.atLeast(Time.ZERO);
			if (quota(i) > 0 && rate != quota(i)) {
				convert(i);
				this.corrected = true;
			}
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		Time room = draining(limit, quota(limit), this.sizes[limit] - cost);
		return Math.max(0, this.left[limit].minus(room, quota(limit)).roundedUp());
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

	private void fill(long cost, int times) {
		for (int i = 0; i < this.left.length; i++) {
			if (quota(i) > 0) {
				Time before = this.left[i];
				Time filled = before.plus(draining(i, this.rates[i], Math.min(cost, this.sizes[i])), this.rates[i]);
				Time full = full(i, times);
				this.left[i] = filled.isLongerThan(full) ? before.atLeast(full) : filled;
			}
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.left.length; i++) {
			if (this.rates[i] > 0) {
				Time back = draining(i, this.rates[i], Math.min(cost, this.sizes[i]));
				this.left[i] = this.left[i].minus(back, this.rates[i]).atLeast(Time.ZERO);
			}
		}
	}

	@Override
	public long remaining(int limit) {
		long quota = quota(limit);
		if (quota == 0) {
			return 0;
		}
		Time time = this.left[limit];
		// This number or more, never fewer: the double is off by far less than one token.
		long remaining = this.sizes[limit]
				- (long) ((time.micros + (double) time.fraction / quota) / window(limit) * quota);
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
		for (Time time : this.left) {
			ttl = Math.max(ttl, time.roundedUp());
		}
		return ttl;
	}

	@Override
	public MeterState state() {
		int width = width();
		boolean overdrawn = this.charged && isOverdrawn();
		long[] state = new long[width * this.left.length + (overdrawn ? 1 : 0)];
		if (overdrawn) {
			state[state.length - 1] = this.now;
		}
		for (int i = 0; i < this.left.length; i++) {
			state[width * i] = this.now + this.left[i].micros;
			state[width * i + 1] = this.left[i].fraction;
			if (this.sized) {
				state[width * i + 2] = this.rates[i];
			}
		}
		return MeterState.of(state);
	}

	private int width() {
		return this.sized ? 3 : 2;
	}

	private Time draining(int limit, long quota, long cost) {
		long rest = cost * (window(limit) % quota);
		return new Time(cost * (window(limit) / quota) + rest / quota, rest % quota);
	}

	/**
	 * Returns the time in which a bucket drains that is filled to some times its size.
	 */
	private Time full(int limit, int times) {
		long rate = this.rates[limit];
		// A bucket as large as its quota takes a window, whatever the quota was.
		Time full = (rate > 0) ? draining(limit, rate, this.sizes[limit]) : new Time(window(limit), 0);
		return (times > 1) ? full.plus(full, rate) : full;
	}

	private boolean isOverdrawn() {
		return IntStream.range(0, this.left.length).anyMatch((i) -> this.left[i].isLongerThan(full(i, 1)));
	}

	/** Converts the time at another quota to the time for the same cost at this quota. */
	private void convert(int limit) {
		long quota = quota(limit);
		Time time = this.left[limit];
		long rest = time.micros % quota * this.rates[limit] + time.fraction;
		this.left[limit] = new Time(time.micros / quota * this.rates[limit] + rest / quota, rest % quota);
		this.rates[limit] = quota;
	}

	private long quota(int limit) {
		return this.limits.get(limit).quota();
	}

	private long window(int limit) {
		return this.limits.get(limit).windowMicros();
	}

	/**
	 * A length of time.
	 *
	 * @param fraction fractions of a microsecond; their number depends on the bucket
	 */
	private record Time(long micros, long fraction) {

		private static final Time ZERO = new Time(0, 0);

		Time plus(Time other, long fractions) {
			long sum = this.fraction + other.fraction;
			return (sum > 0 && sum >= fractions) ? new Time(this.micros + other.micros + 1, sum - fractions)
					: new Time(this.micros + other.micros, sum);
		}

		Time minus(Time other, long fractions) {
			long rest = this.fraction - other.fraction;
			return (rest < 0) ? new Time(this.micros - other.micros - 1, rest + fractions)
					: new Time(this.micros - other.micros, rest);
		}

		boolean isLongerThan(Time other) {
			return this.micros > other.micros || (this.micros == other.micros && this.fraction > other.fraction);
		}

		Time atLeast(Time least) {
			return least.isLongerThan(this) ? least : this;
		}

		long roundedUp() {
			return this.micros + ((this.fraction > 0) ? 1 : 0);
		}

	}

}
