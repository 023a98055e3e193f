package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.redis.Returns.Return;
import redis.clients.jedis.Protocol.Command;

/**
 * {@code sliding-window} by plain commands: a counter for each sub-window. Limits of one
 * precision share their counters, as do all limits if the precision is an option;
 * otherwise each limit has sub-windows of a sixtieth of its own window, because one
 * command reads all of them.
 * <p>
 * Of requests that share a window with each other, the one that is counted last sees all
 * others, because sub-windows ahead of it are read as well, as far as it may have been
 * overtaken. So no more than the quota is admitted, whatever the order.
 */
final class SlidingWindowTally extends WindowTally {

	/** How many counters of one precision are read. */
	static final int MAX_SUB_WINDOWS = 1000;

	/** By precision, in microseconds. */
	private final Map<Long, Series> series = new TreeMap<>();

	/** Sub-windows of one length. */
	private static final class Series {

		private final Counter present;

		/** How many sub-windows are ahead of the present one. */
		private final int ahead;

		/** End of the newest sub-window, and of all of them the length. */
		private final long end;

		private final long precision;

		/** Redis keys of the other sub-windows, from the newest to the oldest. */
		private final List<String> otherKeys = new ArrayList<>();

		private Reply others = new Reply();

		private Series(Counter present, int ahead, long end, long precision) {
			this.present = present;
			this.ahead = ahead;
			this.end = end;
			this.precision = precision;
		}

		private int size() {
			return this.otherKeys.size() + 1;
		}

		private String key(int k) {
			return (k == this.ahead) ? this.present.key() : this.otherKeys.get((k < this.ahead) ? k : k - 1);
		}

		private long end(int k) {
			return this.end - k * this.precision;
		}

		/** What the sub-windows hold, from the newest to the oldest. */
		private long[] counts() {
			long[] others = this.others.counts();
			long[] counts = new long[size()];
			for (int k = 0; k < others.length; k++) {
				counts[(k < this.ahead) ? k : k + 1] = others[k];
			}
			counts[this.ahead] = this.present.total();
			return counts;
		}

	}

	SlidingWindowTally(Charge charge, Identifier identifier, String key, Moment moment) {
		super(charge, identifier, key, moment);
		Map<Long, Limit> longest = new TreeMap<>();
		for (Limit limit : limits()) {
			// By ascending window.
			longest.put(precision(policy(), limit), limit);
		}
		longest.forEach((precision, limit) -> this.series.put(precision, series(precision, limit.windowMicros())));
	}

	/**
	 * Refuses policies with more sub-windows than are read.
	 * @throws IllegalArgumentException if there are more
	 */
	static void requireSupported(Policy policy) {
		for (Limit limit : policy.limits()) {
			long subWindows = (limit.windowMicros() + reach(limit.windowMicros())) / precision(policy, limit);
			if (subWindows > MAX_SUB_WINDOWS) {
				throw new IllegalArgumentException(
						"Invalid precision (%dms): the window of %s, and what may be ahead of it, would have %d sub-windows, more than the %d that can be read without scripting; set a longer precision."
							.formatted(precision(policy, limit) / 1000, limit, subWindows, MAX_SUB_WINDOWS));
			}
		}
	}

	private static long precision(Policy policy, Limit limit) {
		return ((SlidingWindow) policy.algorithm()).precisionMicros(limit);
	}

	private Series series(long precision, long window) {
		long now = this.moment.micros();
		long end = now - now % precision + precision;
		String name = Long.toString(precision / 1000);
		int ahead = (int) ((now + reach(window)) / precision - now / precision);
		Series series = new Series(counter(name, end / 1000, end + window), ahead, end + ahead * precision, precision);
		for (long other = series.end; other > now - window; other -= precision) {
			if (other != end) {
				series.otherKeys.add(part(name, other / 1000));
			}
		}
		return series;
	}

	/**
	 * How far ahead sub-windows are read: as far as requests may be ahead that were
	 * counted before this one, but those a window ahead share no window with it.
	 */
	private static long reach(long window) {
		return Math.min(Moment.OVERTAKING_MICROS, window);
	}

	@Override
	void append(Batch batch, long cost) {
		super.append(batch, cost);
		for (Series each : this.series.values()) {
			if (!each.otherKeys.isEmpty()) {
				each.others = batch.add(Command.MGET, each.otherKeys.toArray(String[]::new));
			}
		}
	}

	@Override
	Standing standing(int limit, long counted) {
		Series read = Objects.requireNonNull(this.series.get(precision(policy(), limits().get(limit))));
		long[] counts = read.counts();
		for (int k = 0; k < counts.length; k++) {
			counts[k] = count(counts[k], (k == read.ahead) ? counted : 0);
		}
		return new SubWindows(limits().get(limit), this.moment.micros(), read, counts);
	}

	/** A sub-window counts until its end has left the window. */
	private record SubWindows(Limit limit, long now, Series series, long[] counts) implements Standing {

		@Override
		public long remaining() {
			long used = 0;
			for (int k = 0; k < this.counts.length && leaves(k) > 0; k++) {
				used += this.counts[k];
			}
			return Math.max(0, this.limit.quota() - used);
		}

		/** Until there is room without the newest sub-window for which there is none. */
		@Override
		public long retryAfter(long cost) {
			long room = this.limit.quota() - cost;
			for (int k = 0; k < this.counts.length && leaves(k) > 0; k++) {
				room -= this.counts[k];
				if (room < 0) {
					return leaves(k);
				}
			}
			return 0;
		}

		/** Time until a sub-window leaves the window. */
		private long leaves(int k) {
			return this.series.end(k) + this.limit.windowMicros() - this.now;
		}

	}

	/** A refund begins with what was used last. */
	@Override
	void giveBack(Returns returns, long cost, boolean all) {
		if (all) {
			super.giveBack(returns, cost, true);
			return;
		}
		this.series.values().forEach((each) -> {
			long[] counts = each.counts();
			long left = cost;
			for (int k = 0; k < counts.length && left > 0; k++) {
				long back = Math.min(left, counts[k]);
				if (back > 0) {
					long end = each.present.endMicros() + (each.ahead - k) * each.precision;
					returns.add(new Return(each.key(k), back, this.moment.ttlMillisUntil(end), 0, null));
					left -= back;
				}
			}
		});
	}

	@Override
	List<String> keys() {
		return Stream
			.concat(super.keys().stream(), this.series.values().stream().flatMap((each) -> each.otherKeys.stream()))
			.toList();
	}

}
