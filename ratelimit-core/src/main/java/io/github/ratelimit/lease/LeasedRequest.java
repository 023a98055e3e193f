package io.github.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.jspecify.annotations.Nullable;

/**
 * A request, and from which leases it is decided. Not safe for use by several threads.
 */
final class LeasedRequest {

	private final RateLimitRequest request;

	private final long now;

	/** In the order of the request. */
	private final List<Single> all = new ArrayList<>();

	/** What no lease decides. */
	private final List<Charge> rest = new ArrayList<>();

	/**
	 * One policy and identifier of the request.
	 *
	 * @param quota what is held of its quota; may be nothing
	 * @param lease the lease that decides; may be none
	 */
	private record Single(Charge charge, Identifier identifier, @Nullable LeasedQuota quota, @Nullable Lease lease) {

	}

	LeasedRequest(RateLimitRequest request, BiFunction<Policy, Identifier, @Nullable LeasedQuota> quotas, Use use,
			long now) {
		this.request = request;
		this.now = now;
		for (Charge charge : request.charges()) {
			List<Identifier> others = new ArrayList<>();
			for (Identifier identifier : charge.identifiers()) {
				LeasedQuota quota = isLeased(charge) ? quotas.apply(charge.policy(), identifier) : null;
				Lease lease = (quota != null) ? use.of(quota, charge.cost(), now) : null;
				this.all.add(new Single(charge, identifier, quota, lease));
				if (lease == null) {
					others.add(identifier);
				}
			}
			if (!others.isEmpty()) {
				this.rest.add((others.size() == charge.identifiers().size()) ? charge
						: new Charge(charge.policy(), others, charge.cost(), charge.shadow()));
			}
		}
	}

	/** Charges in shadow mode are decided by the store. */
	static boolean isLeased(Charge charge) {
		return charge.policy().lease() != null && !charge.shadow();
	}

	boolean isComplete() {
		return this.rest.isEmpty();
	}

	private boolean isOfStore() {
		return this.rest.equals(this.request.charges());
	}

	void putBack() {
		for (Single each : this.all) {
			if (each.quota != null && each.lease != null) {
				each.quota.putBack(each.lease, each.charge.cost());
			}
		}
	}

	/** Returns what the store decides, unless leases decide all of it. */
	RateLimitRequest rest() {
		return isOfStore() ? this.request : this.request.withCharges(this.rest);
	}

	void decided(Decision rest) {
		for (Single each : this.all) {
			if (each.quota != null && each.lease == null && rest.source() == Source.STORE) {
				each.quota.decided(rest, each.charge.cost());
			}
		}
	}

	Decision decision() {
		return new Decision(true, statuses(List.of()), null, Source.LEASE);
	}

	/**
	 * Returns the decision of the leases and the store together. It is one of the leases
	 * if the store has only decided charges in shadow mode.
	 */
	Decision decision(Decision rest) {
		if (isOfStore() || rest.source() != Source.STORE) {
			return rest;
		}
		return new Decision(rest.allowed(), statuses(rest.statuses()), rest.blockedFor(),
				this.rest.stream().allMatch(Charge::shadow) ? Source.LEASE : Source.STORE, rest.shadows());
	}

	private List<LimitStatus> statuses(List<LimitStatus> rest) {
		List<LimitStatus> statuses = new ArrayList<>();
		for (Single each : this.all) {
			Policy policy = each.charge.policy();
			if (each.lease != null) {
				statuses.addAll(each.lease.statuses(policy, each.identifier, this.now));
				continue;
			}
			for (LimitStatus status : rest) {
				if (status.policy().equals(policy) && status.identifier().equals(each.identifier)) {
					statuses.add(status);
				}
			}
		}
		return statuses;
	}

	/** Uses a cost, or finds the lease that has it; {@code null} if none has. */
	@FunctionalInterface
	interface Use {

		@Nullable Lease of(LeasedQuota quota, long cost, long now);

	}

}
