package io.github.ratelimit.denial;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an account: how its limits stood for several costs. It holds until
 * something is used or given back.
 *
 * @param policy the policy with its quotas: other quotas count in another way
 * @param epoch when this was found out, as {@link DenialMemory} counts
 * @param standings the standings by their costs, the oldest first
 * @param questions how often the store was asked though the answer was known in part
 */
record Standings(Policy policy, long epoch, Map<Long, Standing> standings, Questions questions) {

	/** Different costs of one account. */
	private static final int MAX_STANDINGS = 100;

	static Standings of(Policy policy, long epoch) {
		return new Standings(policy, epoch, Map.of(), new Questions());
	}

	Standings with(long cost, Standing standing) {
		Map<Long, Standing> all = new LinkedHashMap<>(this.standings);
		all.remove(cost);
		all.put(cost, standing);
		if (all.size() > MAX_STANDINGS) {
			Iterator<Long> oldest = all.keySet().iterator();
			oldest.next();
			oldest.remove();
		}
		return new Standings(this.policy, this.epoch, all, this.questions);
	}

	/** How the limits stand for a cost; {@code null} if that is not known exactly. */
	@Nullable Standing find(long cost, long now, long maxAge) {
		Standing standing = this.standings.get(cost);
		return (standing != null) ? at(standing, now, maxAge) : null;
	}

	/**
	 * How the limits stand for the largest cost that is known to be denied, and is not
	 * larger than a cost: they deny that as well, for at least as long. {@code null} if
	 * there is none.
	 */
	@Nullable Standing findLess(long cost, long now, long maxAge) {
		long largest = 0;
		Standing found = null;
		for (Map.Entry<Long, Standing> entry : this.standings.entrySet()) {
			if (entry.getKey() <= cost && entry.getKey() > largest) {
				Standing standing = at(entry.getValue(), now, maxAge);
				if (standing != null && !standing.violated().isEmpty()) {
					largest = entry.getKey();
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

}
