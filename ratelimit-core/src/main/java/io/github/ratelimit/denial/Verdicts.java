package io.github.ratelimit.denial;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.denial.DenialMemory.CallRate;
import org.jspecify.annotations.Nullable;

/**
 * The verdicts of a key for several costs. They are valid until its count changes.
 *
 * @param policy the policy; verdicts do not apply to other quotas
 * @param verdicts the verdicts by ascending cost
 * @param calls how often the store was asked although the request was certain to be
 * denied
 */
record Verdicts(Policy policy, List<Verdict> verdicts, CallRate calls) {

	/** Maximum number of different costs of one key. */
	private static final int MAX_VERDICTS = 100;

	/** Returns the same with one more verdict; drops the oldest if there are too many. */
	Verdicts with(Verdict verdict) {
		List<Verdict> all = new ArrayList<>(this.verdicts);
		all.removeIf((known) -> known.cost() == verdict.cost());
		if (all.size() == MAX_VERDICTS) {
			all.remove(all.stream().min(Comparator.comparingLong(Verdict::since)).orElseThrow());
		}
		all.add(verdict);
		all.sort(Comparator.comparingLong(Verdict::cost));
		return new Verdicts(this.policy, List.copyOf(all), this.calls);
	}

	/** Returns the verdict on a cost; {@code null} if there is none. */
	@Nullable Verdict find(long cost) {
		int index = below(cost);
		boolean known = index < this.verdicts.size() && this.verdicts.get(index).cost() == cost;
		return known ? this.verdicts.get(index) : null;
	}

	/** Returns how many verdicts are about smaller costs. */
	private int below(long cost) {
		int low = 0;
		int high = this.verdicts.size();
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (this.verdicts.get(middle).cost() < cost) {
				low = middle + 1;
			}
			else {
				high = middle;
			}
		}
		return low;
	}

	/**
	 * Returns the limits that deny the largest known smaller cost: they deny a larger
	 * cost for at least as long.
	 * @return the limits; empty if there is no such cost
	 */
	List<LimitStatus> violatedByLess(long cost, long now, long maxAge, Identifier identifier) {
		for (int i = below(cost) - 1; i >= 0 && this.verdicts.get(i).cost() > 0; i--) {
			List<LimitStatus> violated = this.verdicts.get(i).at(now, maxAge, this.policy, identifier);
			if (violated != null && !violated.isEmpty()) {
				return violated;
			}
		}
		return List.of();
	}

}
