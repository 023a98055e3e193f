package io.github.ratelimit.algorithm;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.WindowCount;
import org.jspecify.annotations.Nullable;

/**
 * {@code fixed-window} and {@code first-request-window} in plain Java;
 * {@code window-counter.lua} is the same for Redis.
 * <p>
 * State: for each limit the windows that are kept, from the current one to the oldest,
 * with the end and the count of each.
 */
final class WindowCounterMeter extends MeterBase implements Meter {

	/**
	 * The current window.
	 *
	 * @param uneven by how much windows may be longer than the nominal length
	 * @param span how long before its end another may have ended that is kept
	 */
	record Window(long start, long end, long uneven, long span) {

	}

	@FunctionalInterface
	interface Windows {

		Window find(Limit limit, long now);

	}

	private final int width;

	/** How long the windows of each limit are kept after their end. */
	private final long[] kept;

	/** For each limit the end and the count of each window, starting with the current. */
	private final long[] windows;

	private final long[] starts;

	WindowCounterMeter(List<Limit> limits, @Nullable MeterState stored, long now, int retain, Windows windows) {
		super(limits, now);
		this.width = 2 * retain;
		this.kept = new long[limits.size()];
		this.starts = new long[limits.size()];
		this.windows = (stored != null) ? stored.numbers().clone() : new long[this.width * limits.size()];
		for (int i = 0; i < limits.size(); i++) {
			int present = this.width * i;
			long length = window(i);
			Window window = windows.find(limits.get(i), now);
			this.kept[i] = (retain - 1) * length + ((retain > 1) ? window.uneven : 0);
			if (count(present) == 0) {
				dropUnused(present);
			}
			if (count(present) > 0 && end(present) > Math.max(window.end, now + length + window.uneven)) {
				// The clock was set back: the count lasts for one window.
				this.windows[present] = now + length;
				this.corrected = true;
			}
			if (count(present) == 0) {
				this.windows[present] = window.end;
			}
			else if (end(present) <= now) {
				// A corrected window does not end where another starts. The next has the
				// full length, because three quotas would fit into one window otherwise.
				begin(present, (end(present) > window.start) ? end(present) + length : window.end);
			}
			this.starts[i] = (end(present) == window.end) ? window.start : end(present) - length;
			forget(present, end(present) - window.span);
		}
	}

	private long end(int k) {
		return this.windows[k];
	}

	private long count(int k) {
		return this.windows[k + 1];
	}

	/** A kept window may be the current one if the clock was set back. */
	private void dropUnused(int present) {
		int used = present;
		for (int k = present; k < present + this.width; k += 2) {
			if (count(k) > 0) {
				System.arraycopy(this.windows, k, this.windows, used, 2);
				used += 2;
			}
		}
		Arrays.fill(this.windows, used, present + this.width, 0);
	}

	private void begin(int present, long end) {
		System.arraycopy(this.windows, present, this.windows, present + 2, this.width - 2);
		this.windows[present] = end;
		this.windows[present + 1] = 0;
	}

	/** Drops windows that are too old, and those in the future after a clock change. */
	private void forget(int present, long end) {
		for (int k = present + 2; k < present + this.width; k += 2) {
			boolean ahead = end(k) >= end(present);
			this.corrected |= ahead;
			if (ahead || end(k) <= end) {
				Arrays.fill(this.windows, k, k + 2, 0);
			}
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		int present = this.width * limit;
		return (quota(limit) - count(present) >= cost) ? 0 : end(present) - this.now;
	}

	@Override
	public void add(long cost, String metadata) {
		for (int present = 0; present < this.windows.length; present += this.width) {
			this.windows[present + 1] = Math.min(count(present) + cost, Limit.MAX_QUOTA);
		}
	}

	@Override
	public void refund(long cost) {
		cancel(cost, Long.MAX_VALUE);
	}

	@Override
	public void cancel(long cost, long since) {
		for (int i = 0; i < this.starts.length; i++) {
			int present = this.width * i;
			if (since >= this.starts[i]) {
				this.windows[present + 1] = Math.max(0, count(present) - cost);
			}
		}
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, quota(limit) - count(this.width * limit));
	}

	@Override
	public long ttl() {
		long ttl = 0;
		for (int k = 0; k < this.windows.length; k += 2) {
			if (count(k) > 0) {
				ttl = Math.max(ttl, end(k) + this.kept[k / this.width] - this.now);
			}
		}
		return ttl;
	}

	@Override
	public MeterState state() {
		return MeterState.of(this.windows);
	}

	@Override
	public List<WindowCount> series() {
		List<WindowCount> series = new ArrayList<>();
		for (int k = 0; k < this.windows.length; k += 2) {
			if (count(k) > 0) {
				series.add(new WindowCount(this.limits.get(k / this.width),
						Instant.EPOCH.plus(end(k), ChronoUnit.MICROS), count(k)));
			}
		}
		return series;
	}

}
