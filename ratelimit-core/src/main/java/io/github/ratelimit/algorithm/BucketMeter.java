package io.github.ratelimit.algorithm;

import java.math.BigInteger;
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
 * fractions of a microsecond, as many as the quota, so that rounding neither creates nor
 * loses quota; and if the bucket has a separate size, the quota at which it drains. While
 * charges overdraw a bucket, up to twice its size, the time of the last change is stored
 * too; otherwise it would look as if the clock had been set back.
 */
final class BucketMeter extends MeterBase implements Meter {

	/** Whether the size of buckets differs from the quota. */
	private final boolean sized;

	private final long[] sizes;

	/** The quotas at which the buckets drain. */
	private final long[] rates;

	/**
	 * The times until the buckets are empty, in fractions of a microsecond. A cost drains
	 * in as many fractions as its product with the window, whatever the quota.
	 */
	private final BigInteger[] left;

	/** Whether buckets may be overdrawn. */
	private boolean charged;

	BucketMeter(List<Limit> limits, @Nullable MeterState stored, long now, @Nullable Long burst) {
		super(limits, now);
		this.sized = burst != null;
		this.rates = limits.stream().mapToLong(Limit::quota).toArray();
		this.sizes = (burst != null) ? new long[] { burst } : this.rates.clone();
		this.left = new BigInteger[limits.size()];
		Arrays.fill(this.left, BigInteger.ZERO);
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
			BigInteger time = product(state[width * i] - this.now, fractions(i))
				.add(BigInteger.valueOf((rate > 0) ? Math.min(fraction, rate - 1) : fraction));
			BigInteger most = full(i, this.charged ? 2 : 1);
			// If it is longer, the clock was set back.
			this.corrected |= time.compareTo(most) > 0;
			this.left[i] = time.min(most).max(BigInteger.ZERO);
			if (quota(i) > 0 && rate != quota(i)) {
				this.rates[i] = quota(i);
				this.corrected = true;
			}
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		BigInteger room = draining(limit, this.sizes[limit] - cost);
		return Math.max(0, micros(limit, this.left[limit].subtract(room)));
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
				BigInteger filled = this.left[i].add(draining(i, Math.min(cost, this.sizes[i])));
				this.left[i] = filled.min(full(i, times).max(this.left[i]));
			}
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.left.length; i++) {
			if (this.rates[i] > 0) {
				BigInteger back = draining(i, Math.min(cost, this.sizes[i]));
				this.left[i] = this.left[i].subtract(back).max(BigInteger.ZERO);
			}
		}
	}

	@Override
	public long remaining(int limit) {
		if (quota(limit) == 0) {
			return 0;
		}
		BigInteger room = draining(limit, this.sizes[limit]).subtract(this.left[limit]);
		return room.max(BigInteger.ZERO).divide(BigInteger.valueOf(window(limit))).longValueExact();
	}

	@Override
	public long ttl() {
		return IntStream.range(0, this.left.length).mapToLong((i) -> micros(i, this.left[i])).max().orElse(0);
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
			BigInteger[] time = this.left[i].divideAndRemainder(BigInteger.valueOf(fractions(i)));
			state[width * i] = this.now + time[0].longValueExact();
			state[width * i + 1] = time[1].longValueExact();
			if (this.sized) {
				state[width * i + 2] = this.rates[i];
			}
		}
		return MeterState.of(state);
	}

	private int width() {
		return this.sized ? 3 : 2;
	}

	/** Returns how many fractions a microsecond has; without a quota, as many as fit. */
	private long fractions(int limit) {
		return (this.rates[limit] > 0) ? this.rates[limit] : TokenBucket.MAX_QUOTA;
	}

	private long micros(int limit, BigInteger time) {
		BigInteger[] parts = time.divideAndRemainder(BigInteger.valueOf(fractions(limit)));
		return parts[0].longValueExact() + Math.max(0, parts[1].signum());
	}

	private BigInteger draining(int limit, long cost) {
		return product(cost, window(limit));
	}

	/** Returns how long a bucket drains that is filled to some times its size. */
	private BigInteger full(int limit, int times) {
		// A bucket as large as its quota takes a window, whatever the quota was.
		return (this.rates[limit] > 0) ? draining(limit, times * this.sizes[limit])
				: product(times * window(limit), fractions(limit));
	}

	private boolean isOverdrawn() {
		return IntStream.range(0, this.left.length).anyMatch((i) -> this.left[i].compareTo(full(i, 1)) > 0);
	}

}
