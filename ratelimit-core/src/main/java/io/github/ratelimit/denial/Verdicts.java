package io.github.ratelimit.denial;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a key: the verdicts on several costs. They hold until something is
 * used or given back.
 *
 * @param policy the policy with its quotas: other quotas count in another way
 * @param epoch when this was found out, as {@link DenialMemory} counts
 * @param verdicts the verdicts by ascending cost
 * @param calls how often the store was asked though the answer was known in part
 */
record Verdicts(Policy policy, long epoch, List<Verdict> verdicts, StoreCalls calls) {

	/** Different costs of one key. */
	private static final int MAX_VERDICTS = 100;

	static Verdicts of(Policy policy, long epoch) {
		return new Verdicts(policy, epoch, List.of(), new StoreCalls());
	}

	/** Returns the same with one more verdict; of too many, the oldest is dropped. */
	Verdicts with(Verdict verdict) {
		List<Verdict> all = new ArrayList<>(this.verdicts);
		all.removeIf((known) -> known.cost() == verdict.cost());
		if (all.size() == MAX_VERDICTS) {
			all.remove(all.stream().min(Comparator.comparingLong(Verdict::since)).orElseThrow());
		}
		all.add(verdict);
		all.sort(Comparator.comparingLong(Verdict::cost));
		return new Verdicts(this.policy, this.epoch, List.copyOf(all), this.calls);
	}

	/** Returns the verdict on a cost; {@code null} if there is none. */
	@Nullable Verdict find(long cost) {
		int at = floor(cost);
		return (at >= 0 && this.verdicts.get(at).cost() == cost) ? this.verdicts.get(at) : null;
	}

	/**
	 * Returns the limits that deny the largest cost that is known to be denied and is not
	 * larger than a cost: they deny that as well, for at least as long.
	 * @return the limits; empty if there is no such cost
	 */
	List<LimitStatus> violatedByLess(long cost, long now, long maxAge) {
		for (int at = floor(cost); at >= 0 && this.verdicts.get(at).cost() > 0; at--) {
			List<LimitStatus> violated = this.verdicts.get(at).at(now, maxAge);
			if (violated != null && !violated.isEmpty()) {
				return violated;
			}
		}
		return List.of();
	}

	/** The index of the largest cost that is not larger; -1 if there is none. */
	private int floor(long cost) {
		int low = 0;
		int high = this.verdicts.size() - 1;
		while (low <= high) {
			int middle = (low + high) / 2;
			if (this.verdicts.get(middle).cost() <= cost) {
				low = middle + 1;
			}
			else {
				high = middle - 1;
			}
		}
		return high;
	}

}
