package io.github.ratelimit.denial;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an account: how its limits stood for several costs, and what has been
 * used and given back since.
 * <p>
 * The balance is what this process has used of the account less what it has given back,
 * since it knows the account. A request that uses something, is denied something more,
 * and gives back what it has used changes the balance there and back. Since what is given
 * back is what was used last, an account whose balance is again what it was when a cost
 * was denied has used at least as much, and nothing of it earlier: the cost is still
 * denied, for at least as long. It is for exactly as long if the balance was never lower
 * in between: otherwise something that was used earlier has been replaced by what was
 * used later. Where a refund may leave something that was used in a past window, it is
 * for exactly as long only until the first refund. At any other balance nothing is known.
 *
 * @param policy the policy with its quotas: other quotas count in another way
 * @param epoch when this was found out, as {@link DenialMemory} counts
 * @param stamp when something was last found out, as {@link DenialMemory} counts
 * @param balance the present balance
 * @param standings the standings, the oldest first
 * @param questions how often the store was asked though the answer was known in part
 */
record Standings(Policy policy, long epoch, long stamp, long balance, Map<Level, Standing> standings,
		Questions questions) {

	/** Different costs and balances of one account. */
	private static final int MAX_STANDINGS = 100;

	static Standings of(Policy policy, long epoch) {
		return new Standings(policy, epoch, 0, 0, Map.of(), new Questions());
	}

	Standings with(long cost, Standing standing, long stamp) {
		Map<Level, Standing> all = new LinkedHashMap<>(this.standings);
		Level level = new Level(cost, this.balance);
		all.remove(level);
		all.put(level, standing);
		if (all.size() > MAX_STANDINGS) {
			Iterator<Level> oldest = all.keySet().iterator();
			oldest.next();
			oldest.remove();
		}
		return new Standings(this.policy, this.epoch, stamp, this.balance, all, this.questions);
	}

	/** What is known after something was used, or given back if the cost is negative. */
	Standings used(long cost) {
		long after = this.balance + cost;
		Map<Level, Standing> all = this.standings;
		if (cost < 0) {
			all = new LinkedHashMap<>(all);
			boolean newest = this.policy.algorithm().refundsNewest();
			all.replaceAll((level, standing) -> (newest && level.balance() <= after) ? standing : standing.inexact());
		}
		return new Standings(this.policy, this.epoch, this.stamp, after, all, this.questions);
	}

	/** How the limits stand for a cost; {@code null} if that is not known exactly. */
	@Nullable Standing find(long cost, long now, long maxAge) {
		Standing standing = this.standings.get(new Level(cost, this.balance));
		return (standing != null && standing.exact()) ? at(standing, now, maxAge) : null;
	}

	/**
	 * How the limits stand for the largest cost that is known to be denied, and is not
	 * larger than a cost: they deny that as well, for at least as long. {@code null} if
	 * there is none.
	 */
	@Nullable Standing findLess(long cost, long now, long maxAge) {
		long largest = 0;
		Standing found = null;
		for (Map.Entry<Level, Standing> entry : this.standings.entrySet()) {
			Level level = entry.getKey();
			if (level.balance() == this.balance && level.cost() <= cost && level.cost() > largest) {
				Standing standing = at(entry.getValue(), now, maxAge);
				if (standing != null && !standing.violated().isEmpty()) {
					largest = level.cost();
					found = standing;
				}
			}
		}
		return found;
	}

	private static @Nullable Standing at(Standing standing, long now, long maxAge) {
		return (now - standing.since() < maxAge) ? standing.at(now) : null;
	}

	int size() {
		return this.standings.size();
	}

	/** A cost, and the balance at which it was asked for. */
	record Level(long cost, long balance) {

	}

}
