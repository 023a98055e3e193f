package io.github.ratelimit.redis;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * One policy and identifier of a request, as plain commands count them. What the counts
 * amount to is told by a {@link Standing} for each limit.
 */
abstract class Tally {

	private static final long NEVER = -1;

	final Charge charge;

	final Identifier identifier;

	/** Redis key that those of the counts begin with. */
	final String key;

	final Moment moment;

	/** What this request has added to the counts. */
	private long counted;

	Tally(Charge charge, Identifier identifier, String key, Moment moment) {
		this.charge = charge;
		this.identifier = identifier;
		this.key = key;
		this.moment = moment;
	}

	/** Adds what counts the cost and reads how things stand then. */
	final void count(Batch batch) {
		this.counted = this.charge.cost();
		append(batch, this.counted);
	}

	/** Adds what reads how things stand, and writes nothing. */
	final void read(Batch batch) {
		this.counted = 0;
		append(batch, 0);
	}

	/**
	 * Adds the commands.
	 * @param cost what to count; 0 to write nothing
	 */
	abstract void append(Batch batch, long cost);

	/** Adds what is wrong with Redis keys, if it is, but not with what they hold. */
	void repair(Batch batch) {
	}

	/** Redis keys that hold no count, and so cannot be counted with. */
	abstract List<String> damaged();

	/**
	 * Whether the cost counts in what the time of the request is in, so that it must be
	 * counted soon.
	 */
	abstract boolean countsByTime();

	/**
	 * Adds what takes a cost out of the counts that were read.
	 * @param all whether all of it was counted; otherwise no more is taken than there is
	 */
	abstract void giveBack(Returns returns, long cost, boolean all);

	/** Redis keys of all counts that may matter. */
	abstract List<String> keys();

	/**
	 * Returns how a limit stands.
	 * @param counted what of the present count is not to be seen
	 */
	abstract Standing standing(int limit, long counted);

	/** How a limit stands by its algorithm. */
	final Standing standing(int limit, long micros, long @Nullable [] state) {
		return Standing
			.of(algorithm().meter(List.of(limits().get(limit)), (state != null) ? MeterState.of(state) : null, micros));
	}

	/** How the limit stood before this request was counted, or after it. */
	private Standing standing(int limit, boolean after) {
		return standing(limit, after ? 0 : this.counted);
	}

	/** Whether there is something to count. */
	final boolean counts() {
		return this.charge.cost() > 0;
	}

	/** Whether every limit allowed the cost before it was counted. */
	final boolean isAllowed() {
		for (int i = 0; i < limits().size(); i++) {
			if (retryAfter(i, false) != 0) {
				return false;
			}
		}
		return true;
	}

	private long retryAfter(int limit, boolean after) {
		if (!counts()) {
			return 0;
		}
		return (this.charge.cost() <= largestCost(limit)) ? standing(limit, after).retryAfter(this.charge.cost())
				: NEVER;
	}

	/**
	 * Tells how the limits stand.
	 * @param retryAfterCount whether the time to wait is that after the cost was counted
	 * @param counts whether the cost stays counted
	 */
	final void addStatuses(List<LimitStatus> statuses, boolean retryAfterCount, boolean counts) {
		for (int i = 0; i < limits().size(); i++) {
			Standing standing = standing(i, counts);
			long remaining = standing.remaining();
			// More quota has arrived when one more than what remains would be allowed.
			long resetAfter = (remaining < largestCost(i)) ? standing.retryAfter(remaining + 1) : 0;
			statuses.add(LimitStatus.ofMicros(policy(), this.identifier, limits().get(i), remaining, resetAfter,
					retryAfter(i, retryAfterCount)));
		}
	}

	private long largestCost(int limit) {
		return algorithm().largestCost(limits().get(limit));
	}

	/**
	 * Whether a counter was below nothing before this request was counted: what was given
	 * back had been reset or evicted before, and whoever did that has not put it right.
	 */
	final boolean isBelowNothing(long total) {
		return total < this.counted;
	}

	/** A count as the meters take it, without what this request has added. */
	final long count(long total, long counted) {
		return Math.max(0, Math.min(total - counted, algorithm().maxQuota()));
	}

	final Policy policy() {
		return this.charge.policy();
	}

	final List<Limit> limits() {
		return policy().limits();
	}

	final Algorithm algorithm() {
		return policy().algorithm();
	}

}
