package io.github.ratelimit.redis;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * One policy and identifier of a request, as plain commands count them. What the counts
 * amount to is the business of the algorithm's {@link Meter}, one for each limit.
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

	/** Redis keys that cannot be counted with, whatever they hold. */
	abstract List<String> damaged();

	/**
	 * Adds what takes a cost out of the counts that were read.
	 * @param all whether all of it was counted; otherwise no more is taken than there is
	 */
	abstract void giveBack(Returns returns, long cost, boolean all);

	/** Redis keys of all counts that may matter. */
	abstract List<String> keys();

	/**
	 * Returns the state that a meter of one limit has.
	 * @param counted what of the newest count is not to be seen
	 */
	abstract long @Nullable [] state(int limit, long counted);

	/** How the limit stood before this request was counted, or after it. */
	private Meter meter(int limit, boolean after) {
		long[] numbers = state(limit, after ? 0 : this.counted);
		return algorithm().meter(List.of(limits().get(limit)), (numbers != null) ? MeterState.of(numbers) : null,
				this.moment.micros());
	}

	/** Whether every limit could ever allow the cost. */
	final boolean isPossible() {
		return limits().stream().allMatch((limit) -> this.charge.cost() <= algorithm().largestCost(limit));
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
		if (this.charge.cost() == 0) {
			return 0;
		}
		return (this.charge.cost() <= largestCost(limit)) ? meter(limit, after).retryAfter(0, this.charge.cost())
				: NEVER;
	}

	/**
	 * Tells how the limits stand.
	 * @param retryAfterCount whether the time to wait is that after the cost was counted
	 * @param counts whether the cost stays counted
	 */
	final void addStatuses(List<LimitStatus> statuses, boolean retryAfterCount, boolean counts) {
		for (int i = 0; i < limits().size(); i++) {
			Meter meter = meter(i, counts);
			long remaining = meter.remaining(0);
			// More quota has arrived when one more than what remains would be allowed.
			long resetAfter = (remaining < largestCost(i)) ? meter.retryAfter(0, remaining + 1) : 0;
			statuses.add(LimitStatus.ofMicros(policy(), this.identifier, limits().get(i), remaining, resetAfter,
					retryAfter(i, retryAfterCount)));
		}
	}

	private long largestCost(int limit) {
		return algorithm().largestCost(limits().get(limit));
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
