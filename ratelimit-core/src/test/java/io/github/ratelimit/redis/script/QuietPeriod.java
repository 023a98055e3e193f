package io.github.ratelimit.redis.script;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * An algorithm of a user's own: a count that is forgotten after a window without
 * requests.
 *
 * @param extra how much more than the quota is allowed
 */
record QuietPeriod(long extra) implements Algorithm {

	@Override
	public String name() {
		return "quiet-period";
	}

	@Override
	public String code() {
		return "qp";
	}

	@Override
	public long largestCost(Limit limit) {
		return limit.quota() + this.extra;
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("EXTRA", this.extra);
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new Model(limits, state, nowMicros, this.extra);
	}

	/** Times of the last requests, then counts. */
	private static final class Model implements Meter {

		private final List<Limit> limits;

		private final long now;

		private final long extra;

		private final long[] last;

		private final long[] counts;

		Model(List<Limit> limits, @Nullable MeterState state, long now, long extra) {
			this.limits = limits;
			this.now = now;
			this.extra = extra;
			int size = limits.size();
			this.last = (state != null) ? Arrays.copyOf(state.numbers(), size) : new long[size];
			this.counts = (state != null) ? Arrays.copyOfRange(state.numbers(), size, 2 * size) : new long[size];
			for (int i = 0; i < size; i++) {
				if (this.last[i] <= now - limits.get(i).windowMicros()) {
					this.last[i] = now;
					this.counts[i] = 0;
				}
			}
		}

		@Override
		public long retryAfter(int limit, long cost) {
			boolean fits = this.counts[limit] + cost <= this.limits.get(limit).quota() + this.extra;
			return fits ? 0 : this.last[limit] + this.limits.get(limit).windowMicros() - this.now;
		}

		@Override
		public void add(long cost, String metadata) {
			for (int i = 0; i < this.counts.length; i++) {
				this.last[i] = this.now;
				this.counts[i] += cost;
			}
		}

		@Override
		public void refund(long cost) {
			for (int i = 0; i < this.counts.length; i++) {
				this.counts[i] = Math.max(0, this.counts[i] - cost);
			}
		}

		@Override
		public long remaining(int limit) {
			return Math.max(0, this.limits.get(limit).quota() + this.extra - this.counts[limit]);
		}

		@Override
		public boolean corrected() {
			return false;
		}

		@Override
		public long ttl() {
			return IntStream.range(0, this.counts.length)
				.filter((i) -> this.counts[i] > 0)
				.mapToLong((i) -> this.last[i] + this.limits.get(i).windowMicros() - this.now)
				.max()
				.orElse(0);
		}

		@Override
		public MeterState state() {
			long[] numbers = Arrays.copyOf(this.last, 2 * this.last.length);
			System.arraycopy(this.counts, 0, numbers, this.last.length, this.counts.length);
			return MeterState.of(numbers);
		}

	}

}
