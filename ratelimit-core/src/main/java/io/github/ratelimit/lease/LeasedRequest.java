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

	/** For each policy and identifier what is held of its quota; may be nothing. */
	private final @Nullable LeasedQuota[] quotas;

	/** For each policy and identifier the lease that decides; may be none. */
	private final @Nullable Lease[] leases;

	private int leased;

	LeasedRequest(RateLimitRequest request, BiFunction<Policy, Identifier, @Nullable LeasedQuota> quotas, Use use,
			long now) {
		int size = 0;
		for (Charge charge : request.charges()) {
			size += charge.identifiers().size();
		}
		this.request = request;
		this.now = now;
		this.quotas = new LeasedQuota[size];
		this.leases = new Lease[size];
		forEach((at, charge, identifier) -> {
			LeasedQuota quota = isLeased(charge) ? quotas.apply(charge.policy(), identifier) : null;
			Lease lease = (quota != null) ? use.of(quota, charge.cost(), now) : null;
			this.quotas[at] = quota;
			this.leases[at] = lease;
			this.leased += (lease != null) ? 1 : 0;
		});
	}

	/** Charges in shadow mode are decided by the store. */
	static boolean isLeased(Charge charge) {
		return charge.policy().lease() != null && !charge.shadow();
	}

	boolean isComplete() {
		return this.leased == this.leases.length;
	}

	void putBack() {
		forEach((at, charge, identifier) -> {
			LeasedQuota quota = this.quotas[at];
			Lease lease = this.leases[at];
			if (quota != null && lease != null) {
				quota.putBack(lease, charge.cost());
			}
		});
	}

	/** Returns what the store decides, unless leases decide all of it. */
	RateLimitRequest rest() {
		if (this.leased == 0) {
			return this.request;
		}
		List<Charge> charges = new ArrayList<>();
		int at = 0;
		for (Charge charge : this.request.charges()) {
			List<Identifier> identifiers = new ArrayList<>();
			for (Identifier identifier : charge.identifiers()) {
				if (this.leases[at++] == null) {
					identifiers.add(identifier);
				}
			}
			if (!identifiers.isEmpty()) {
				charges.add(new Charge(charge.policy(), identifiers, charge.cost(), charge.shadow()));
			}
		}
		return this.request.withCharges(charges);
	}

	void decided(Decision rest) {
		if (rest.source() == Source.STORE) {
			forEach((at, charge, identifier) -> {
				LeasedQuota quota = this.quotas[at];
				if (quota != null && this.leases[at] == null) {
					quota.decided(rest, charge.cost());
				}
			});
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
		if (this.leased == 0 || rest.source() != Source.STORE) {
			return rest;
		}
		return new Decision(rest.allowed(), statuses(rest.statuses()), rest.blockedFor(),
				rest().enforced().isEmpty() ? Source.LEASE : Source.STORE, rest.shadows());
	}

	private List<LimitStatus> statuses(List<LimitStatus> rest) {
		List<LimitStatus> statuses = new ArrayList<>();
		forEach((at, charge, identifier) -> {
			Lease lease = this.leases[at];
			if (lease != null) {
				statuses.addAll(lease.statuses(charge.policy(), identifier, this.now));
				return;
			}
			for (LimitStatus status : rest) {
				if (status.policy().equals(charge.policy()) && status.identifier().equals(identifier)) {
					statuses.add(status);
				}
			}
		});
		return statuses;
	}

	private void forEach(Action action) {
		int at = 0;
		for (int c = 0; c < this.request.charges().size(); c++) {
			Charge charge = this.request.charges().get(c);
			for (int i = 0; i < charge.identifiers().size(); i++) {
				action.accept(at++, charge, charge.identifiers().get(i));
			}
		}
	}

	/** Uses a cost, or finds the lease that has it; {@code null} if none has. */
	@FunctionalInterface
	interface Use {

		@Nullable Lease of(LeasedQuota quota, long cost, long now);

	}

	@FunctionalInterface
	private interface Action {

		void accept(int at, Charge charge, Identifier identifier);

	}

}
