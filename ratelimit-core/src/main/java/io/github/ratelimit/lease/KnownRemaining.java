package io.github.ratelimit.lease;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;

/**
 * What the store last said is left of each limit of a policy and identifier, until more
 * arrives. Not safe for use by several threads.
 */
final class KnownRemaining {

	/** A part is at most one of so many shares of what is left. */
	private static final int SHARES = 4;

	private final Policy policy;

	private final Identifier identifier;

	private final long[] remaining;

	/** Until when that is known; after that the whole quota may be left. */
	private final long[] until;

	KnownRemaining(Policy policy, Identifier identifier, long now) {
		this.policy = policy;
		this.identifier = identifier;
		this.remaining = policy.limits().stream().mapToLong(Limit::quota).toArray();
		this.until = new long[this.remaining.length];
		Arrays.fill(this.until, now);
	}

	void note(Decision decision, long now) {
		for (LimitStatus status : decision.statuses()) {
			int limit = (status.policy().name().equals(this.policy.name())
					&& status.identifier().equals(this.identifier)) ? this.policy.limits().indexOf(status.limit()) : -1;
			if (limit >= 0) {
				this.remaining[limit] = status.remaining();
				this.until[limit] = now + TimeUnit.NANOSECONDS.convert(status.resetAfter());
			}
		}
	}

	long share(long now) {
		long share = Long.MAX_VALUE;
		for (int i = 0; i < this.remaining.length; i++) {
			boolean isKnown = this.until[i] - now > 0;
			share = Math.min(share, (isKnown ? this.remaining[i] : this.policy.limits().get(i).quota()) / SHARES);
		}
		return share;
	}

}
