package io.github.ratelimit.algorithm;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many requests run at the same time. The quota is the largest number of calls
 * at once; the window is the lease time, after which a call that was neither removed nor
 * renewed no longer counts, for example because its process died.
 * <p>
 * A request with a {@linkplain io.github.ratelimit.RateLimitRequest#call() number} enters
 * a call. A refund with this number removes it, and no other. A charge with this number
 * begins its lease anew, which a call that takes longer must do before the lease ends; if
 * it was lost, it is entered again, even beyond the quota. The {@code retryAfter} of a
 * denied request is the time until enough leases end; calls usually end earlier.
 * <p>
 * <b>Bound:</b> at any time, at most the quota of calls run that were admitted and whose
 * lease has not ended. No call counts for longer than the lease time after it was
 * admitted or renewed for the last time. If the clock is set back, the leases of all
 * calls end at most one lease time later.
 * <p>
 * A call takes 13 bytes, and as many times that as its cost. Requests without a number
 * are refunded from the newest on.
 */
public record ConcurrentCalls() implements Algorithm {

	/** Largest quota. */
	public static final long MAX_QUOTA = 1000;

	@Override
	public String name() {
		return "concurrent-calls";
	}

	@Override
	public String code() {
		return "cc";
	}

	@Override
	public long maxQuota() {
		return MAX_QUOTA;
	}

	@Override
	public void requireSupported(List<Limit> limits) {
		if (limits.size() > 1) {
			throw new IllegalArgumentException(
					"Invalid limits %s: there must be only one for %s.".formatted(limits, name()));
		}
	}

	@Override
	public boolean countsCalls() {
		return true;
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new ConcurrentCallsMeter(limits, state, nowMicros);
	}

}
