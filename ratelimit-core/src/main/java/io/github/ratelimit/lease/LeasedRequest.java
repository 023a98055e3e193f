package io.github.ratelimit.lease;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

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
			for (Identifier identifier : charge.identifiers()) {
				LeasedQuota quota = isLeased(charge) ? quotas.apply(charge.policy(), identifier) : null;
				Lease lease = (quota != null) ? use.of(quota, charge.cost(), now) : null;
				this.all.add(new Single(charge, identifier, quota, lease));
			}
		}
	}

	/** Charges in shadow mode are decided by the store. */
	static boolean isLeased(Charge charge) {
		return charge.policy().lease() != null && !charge.shadow();
	}

	boolean isComplete() {
		return this.all.stream().allMatch((each) -> each.lease != null);
	}

	private boolean isOfStore() {
		return this.all.stream().allMatch((each) -> each.lease == null);
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
		if (isOfStore()) {
			return this.request;
		}
		Map<Charge, List<Identifier>> rest = this.all.stream()
			.filter((each) -> each.lease == null)
			.collect(Collectors.groupingBy(Single::charge, LinkedHashMap::new,
					Collectors.mapping(Single::identifier, Collectors.toList())));
		return this.request.withCharges(rest.entrySet()
			.stream()
			.map((each) -> new Charge(each.getKey().policy(), each.getValue(), each.getKey().cost(),
					each.getKey().shadow()))
			.toList());
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
				rest().enforced().isEmpty() ? Source.LEASE : Source.STORE, rest.shadows());
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
