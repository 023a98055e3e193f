package io.github.ratelimit.algorithm;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
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
 * State: for each limit the windows that are kept, from the present one to the oldest,
 * with the end of the window and the count in it.
 */
final class WindowCounterMeter implements Meter {

	/**
	 * Where a window that the present time is in starts and ends, and by how much windows
	 * that follow each other may be longer or shorter than their length.
	 */
	record Window(long start, long end, long uneven) {

	}

	/** Finds the window that the present time is in. */
	@FunctionalInterface
	interface Windows {

		Window find(Limit limit, long now);

	}

	private final List<Limit> limits;

	private final long now;

	/** How many windows are kept for each limit. */
	private final int retain;

	/** For how long windows of each limit are kept after their end. */
	private final long[] kept;

	private final long[] ends;

	private final long[] counts;

	private boolean corrected;

	WindowCounterMeter(List<Limit> limits, @Nullable MeterState stored, long now, int retain, Windows windows) {
		long[] state = (stored != null) ? stored.numbers() : null;
		this.limits = limits;
		this.now = now;
		this.retain = retain;
		this.kept = new long[limits.size()];
		this.ends = new long[retain * limits.size()];
		this.counts = new long[retain * limits.size()];
		for (int k = 0; state != null && k < this.ends.length; k++) {
			this.ends[k] = state[2 * k];
			this.counts[k] = state[2 * k + 1];
		}
		for (int i = 0; i < limits.size(); i++) {
			int present = retain * i;
			long length = limits.get(i).windowMicros();
			Window window = windows.find(limits.get(i), now);
			long uneven = (retain > 1) ? window.uneven : 0;
			this.kept[i] = (retain - 1) * length + uneven;
			if (this.counts[present] == 0) {
				dropUnused(present);
			}
			if (this.counts[present] > 0 && this.ends[present] > Math.max(window.end, now + length)) {
				// The clock was set back: the count lasts one window, not until the
				// clock has caught up.
				this.ends[present] = now + length;
				this.corrected = true;
			}
			if (this.counts[present] == 0) {
				this.ends[present] = window.end;
			}
			else if (this.ends[present] <= now) {
				// A window that was corrected does not end where another starts: the
				// next is as long as any, or three quotas would fit into one window.
				begin(present, (this.ends[present] > window.start) ? this.ends[present] + length : window.end);
			}
			forget(present, this.ends[present] - retain * length + uneven);
		}
	}

	@Override
	public List<WindowCount> series() {
		List<WindowCount> series = new ArrayList<>();
		for (int k = 0; k < this.counts.length; k++) {
			if (this.counts[k] > 0) {
				series.add(new WindowCount(this.limits.get(k / this.retain),
						Instant.EPOCH.plus(this.ends[k], ChronoUnit.MICROS), this.counts[k]));
			}
		}
		return series;
	}

	/**
	 * A window in which nothing was used is none: what is kept takes its place, and may
	 * be the present window if the clock was set back.
	 */
	private void dropUnused(int present) {
		int used = present;
		for (int k = present; k < present + this.retain; k++) {
			if (this.counts[k] > 0) {
				this.ends[used] = this.ends[k];
				this.counts[used] = this.counts[k];
				used++;
			}
		}
		for (int k = used; k < present + this.retain; k++) {
			this.ends[k] = 0;
			this.counts[k] = 0;
		}
	}

	private void begin(int present, long end) {
		for (int k = present + this.retain - 1; k > present; k--) {
			this.ends[k] = this.ends[k - 1];
			this.counts[k] = this.counts[k - 1];
		}
		this.ends[present] = end;
		this.counts[present] = 0;
	}

	/** Forgets windows that are too old, and those of a clock that was set back. */
	private void forget(int present, long end) {
		for (int k = present + 1; k < present + this.retain; k++) {
			boolean ahead = this.ends[k] >= this.ends[present];
			this.corrected = this.corrected || ahead;
			if (ahead || this.ends[k] <= end) {
				this.ends[k] = 0;
				this.counts[k] = 0;
			}
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		int present = this.retain * limit;
		return (this.limits.get(limit).quota() - this.counts[present] >= cost) ? 0 : this.ends[present] - this.now;
	}

	@Override
	public void add(long cost, String metadata) {
		for (int present = 0; present < this.counts.length; present += this.retain) {
			this.counts[present] = Math.min(this.counts[present] + cost, Limit.MAX_QUOTA);
		}
	}

	@Override
	public void refund(long cost) {
		for (int present = 0; present < this.counts.length; present += this.retain) {
			this.counts[present] = Math.max(0, this.counts[present] - cost);
		}
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, this.limits.get(limit).quota() - this.counts[this.retain * limit]);
	}

	@Override
	public boolean corrected() {
		return this.corrected;
	}

	@Override
	public long ttl() {
		long ttl = 0;
		for (int k = 0; k < this.counts.length; k++) {
			if (this.counts[k] > 0) {
				ttl = Math.max(ttl, this.ends[k] + this.kept[k / this.retain] - this.now);
			}
		}
		return ttl;
	}

	@Override
	public MeterState state() {
		long[] state = new long[2 * this.counts.length];
		for (int k = 0; k < this.counts.length; k++) {
			state[2 * k] = this.ends[k];
			state[2 * k + 1] = this.counts[k];
		}
		return MeterState.of(state);
	}

}
