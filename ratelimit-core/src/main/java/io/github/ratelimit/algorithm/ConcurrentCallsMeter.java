package io.github.ratelimit.algorithm;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one identifier, by ascending end of their leases. A call is contained as
 * many times as its cost. State: for each of them the end of the lease in microseconds,
 * and the number of the call.
 */
final class ConcurrentCallsMeter extends MeterBase implements Meter {

	/** Renewed calls are entered even beyond the quota, until there are so many. */
	static final int MOST = 2 * (int) ConcurrentCalls.MAX_QUOTA;

	private final List<Running> calls = new ArrayList<>();

	private long call;

	private record Running(long end, long call) {

	}

	ConcurrentCallsMeter(List<Limit> limits, @Nullable MeterState state, long now) {
		super(limits, now);
		long[] numbers = (state != null) ? state.numbers() : new long[0];
		for (int i = 0; i < numbers.length; i += 2) {
			// If it is longer, the clock was set back.
			this.corrected |= numbers[i] > now + window(0);
			if (numbers[i] > now) {
				this.calls.add(new Running(Math.min(numbers[i], now + window(0)), numbers[i + 1]));
			}
		}
	}

	@Override
	public Meter ofCall(long call) {
		this.call = call;
		return this;
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long excess = this.calls.size() + cost - quota(0);
		return (excess > 0) ? this.calls.get((int) excess - 1).end() - this.now : 0;
	}

	@Override
	public void add(long cost, String metadata) {
		for (long i = 0; i < cost; i++) {
			this.calls.add(new Running(this.now + window(0), this.call));
		}
	}

	@Override
	public void charge(long cost, String metadata) {
		if (this.call != 0) {
			refund(Long.MAX_VALUE);
		}
		add(Math.min(cost, MOST - this.calls.size()), metadata);
	}

	@Override
	public void refund(long cost) {
		long left = cost;
		for (int i = this.calls.size() - 1; i >= 0 && left > 0; i--) {
			if (this.calls.get(i).call() == this.call) {
				this.calls.remove(i);
				left--;
			}
		}
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, quota(0) - this.calls.size());
	}

	@Override
	public long ttl() {
		return this.calls.isEmpty() ? 0 : this.calls.get(this.calls.size() - 1).end() - this.now;
	}

	@Override
	public MeterState state() {
		long[] numbers = new long[2 * this.calls.size()];
		int at = 0;
		for (Running each : this.calls) {
			numbers[at++] = each.end();
			numbers[at++] = each.call();
		}
		return MeterState.of(numbers);
	}

}
