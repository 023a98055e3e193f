package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a log of the allowed requests, one for all limits of the policy. It is exact, and
 * takes 10 bytes for each request of the longest window.
 * <p>
 * If a log in Redis has more than about 1,600 requests, a decision reads only some pieces
 * of it and adds the request in place: the work grows with the logarithm of the quota.
 * Such a log may take two to four times the memory. The whole log is read and written by
 * refunds, after the clock was set back, and by a request with a small quota if the log
 * has grown under a larger one.
 * <p>
 * A denied request that counts replaces the oldest entries if the log would otherwise
 * exceed both the largest quota (for a charge, twice that) and what was used before. So
 * if requests with several quotas share a log, as with plans, none is admitted beyond its
 * own quota, unless charges that replaced other entries are refunded, and none is denied
 * longer because of a log that has grown under a larger quota.
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most the quota is admitted,
 * exactly, and nothing is denied too early. A request exactly one window old no longer
 * counts. If the clock is set back, requests in its future count as made now.
 * <p>
 * Metadata takes 4 bytes more for each request, and the text itself. Such a log is read
 * and written as a whole with each request, so the quota is at most
 * {@value #MAX_QUOTA_WITH_METADATA}.
 * <p>
 * From "Rate Limiting with Redis" (DomainTools), "Rate Limiting: Sliding Log" (2018) and
 * "3 Rate Limiting Patterns with Redis: Pattern for storing arbitrary metadata".
 *
 * @param metadata whether the metadata of requests is kept
 */
public record SlidingLog(boolean metadata) implements Algorithm {

	/** Largest quota of a limit. {@link SlidingWindow} supports larger ones. */
	public static final long MAX_QUOTA = 100_000;

	/** Largest quota of a limit with metadata. */
	public static final long MAX_QUOTA_WITH_METADATA = 1000;

	/** Creates the algorithm without metadata. */
	public SlidingLog() {
		this(false);
	}

	@Override
	public String name() {
		return "sliding-log";
	}

	@Override
	public String script() {
		return "log";
	}

	@Override
	public String code() {
		return this.metadata ? "slm" : "sl";
	}

	@Override
	public long maxQuota() {
		return this.metadata ? MAX_QUOTA_WITH_METADATA : MAX_QUOTA;
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return this.metadata ? LogMeter.constants(14, 0, 0, true, 0)
				: LogMeter.constants(10, 0, 0, false, LogMeter.largestQuota(limits));
	}

	@Override
	public boolean keepsEntries() {
		return true;
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new LogMeter(limits, state, nowMicros, 0, 0, this.metadata);
	}

}
