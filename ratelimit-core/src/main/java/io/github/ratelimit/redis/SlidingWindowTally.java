package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.redis.Returns.Return;
import redis.clients.jedis.Protocol.Command;

/**
 * {@code sliding-window} by plain commands: a counter for each sub-window. Limits of one
 * precision share their counters, as do all limits if the precision is an option;
 * otherwise each limit has sub-windows of a sixtieth of its own window, because one
 * command reads all of them.
 */
final class SlidingWindowTally extends WindowTally {

	/** How many counters of one precision are read. */
	static final int MAX_SUB_WINDOWS = 1000;

	/** By precision, in microseconds. */
	private final Map<Long, Series> series = new TreeMap<>();

	/** Sub-windows of one length. */
	private static final class Series {

		private final Counter present;

		/** End of the present sub-window. */
		private final long end;

		/** Redis keys of the other sub-windows, from the newest to the oldest. */
		private final List<String> pastKeys = new ArrayList<>();

		private Reply past = new Reply();

		private Series(Counter present, long end) {
			this.present = present;
			this.end = end;
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
			long subWindows = limit.windowMicros() / precision(policy, limit);
			if (subWindows > MAX_SUB_WINDOWS) {
				throw new IllegalArgumentException(
						"Invalid precision (%dms): the window of %s would have %d sub-windows, more than the %d that can be read without scripting; set a longer precision."
							.formatted(precision(policy, limit) / 1000, limit, subWindows, MAX_SUB_WINDOWS));
			}
		}
	}

	private static long precision(Policy policy, Limit limit) {
		return Long.parseLong(policy.algorithm().options(List.of(limit), 0).get(0));
	}

	private Series series(long precision, long window) {
		long now = this.moment.micros();
		long end = now - now % precision + precision;
		String name = Long.toString(precision / 1000);
		Series series = new Series(counter(name, end / 1000, end + window), end);
		for (long past = end - precision; past > now - window; past -= precision) {
			series.pastKeys.add(part(name, past / 1000));
		}
		return series;
	}

	@Override
	void append(Batch batch, long cost) {
		super.append(batch, cost);
		for (Series each : this.series.values()) {
			if (!each.pastKeys.isEmpty()) {
				each.past = batch.add(Command.MGET, each.pastKeys.toArray(String[]::new));
			}
		}
	}

	/** From the oldest sub-window that is used: when it ends, and the total up to it. */
	@Override
	long[] state(int limit, long counted) {
		long precision = precision(policy(), limits().get(limit));
		Series used = Objects.requireNonNull(this.series.get(precision));
		long[] counts = used.past.counts();
		long[] log = new long[2 * counts.length + 4];
		int entries = 1;
		long total = 0;
		for (int k = counts.length; k >= 0; k--) {
			long count = (k == 0) ? count(used.present.total(), counted) : count(counts[k - 1], 0);
			if (count > 0) {
				total += count;
				log[2 * entries] = used.end - k * precision;
				log[2 * entries + 1] = total;
				entries++;
			}
		}
		return Arrays.copyOf(log, 2 * entries);
	}

	/** A refund begins with what was used last. */
	@Override
	void giveBack(Returns returns, long cost, boolean all) {
		if (all) {
			super.giveBack(returns, cost, true);
			return;
		}
		this.series.forEach((precision, each) -> {
			long[] counts = each.past.counts();
			long left = cost;
			for (int k = 0; k <= counts.length && left > 0; k++) {
				long back = Math.min(left, (k == 0) ? each.present.total() : counts[k - 1]);
				if (back > 0) {
					String key = (k == 0) ? each.present.key() : each.pastKeys.get(k - 1);
					long end = each.present.endMicros() - k * precision;
					returns.add(new Return(key, back, this.moment.ttlMillisUntil(end), 0, null));
					left -= back;
				}
			}
		});
	}

	@Override
	List<String> keys() {
		return Stream
			.concat(super.keys().stream(), this.series.values().stream().flatMap((each) -> each.pastKeys.stream()))
			.toList();
	}

}
