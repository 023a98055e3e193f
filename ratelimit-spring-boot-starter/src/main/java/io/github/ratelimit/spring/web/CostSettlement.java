package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongBiFunction;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.policy.PolicyCharge;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * The true cost of a request, for handlers that know it only at the end: bytes, rows,
 * tokens. The cost that is charged at first is an estimate. At the end of the request,
 * the difference to the true cost is refunded, or charged even if it is more than
 * remains. If the handler sets no cost, the estimate stays.
 * <p>
 * If the application crashes before, the estimate stays counted.
 * <p>
 * Safe for use by several threads, so that asynchronous code may use it.
 *
 * @since 0.1
 */
public final class CostSettlement {

	/** With more charges than these, they are added up. */
	private static final int MOST_USED = 64;

	/** Charges to be settled. */
	private final List<PolicyCharge> used = new ArrayList<>(2);

	/** Charges to be refunded. */
	private final List<PolicyCharge> free = new ArrayList<>(0);

	/** True costs by the names of policies. */
	private Map<String, Long> settled = Map.of();

	private @Nullable HttpServletResponse response;

	private boolean failed;

	private int mostUsed = MOST_USED;

	CostSettlement() {
	}

	/**
	 * Returns the costs of a request. Code that serves it in another thread must keep the
	 * costs instead of the request.
	 * @param request the request, while it is being served
	 * @return its costs, always the same
	 */
	public static CostSettlement of(HttpServletRequest request) {
		return RequestState.of(request).costs();
	}

	/**
	 * Sets the true cost of the request in a policy. The last call wins.
	 * @param policy the name of the policy
	 * @param cost the true cost, 0 or more
	 * @return whether the policy counts this request, which has not ended
	 * @throws IllegalArgumentException if the cost is negative
	 */
	public synchronized boolean settle(String policy, long cost) {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%d): must not be negative.".formatted(cost));
		}
		if (this.used.stream().noneMatch((charge) -> charge.charge().policy().name().equals(policy))) {
			return false;
		}
		if (this.settled.isEmpty()) {
			this.settled = new HashMap<>();
		}
		this.settled.put(policy, cost);
		return true;
	}

	/** Refunds everything that was used so far, whatever its true cost is. */
	synchronized void refund() {
		this.free.addAll(this.used);
		forgetUsed();
	}

	/**
	 * Removes the charges that are counted separately until the login, which the request
	 * has passed. The caller refunds them.
	 */
	synchronized List<PolicyCharge> takeBeforeLogin() {
		List<PolicyCharge> taken = this.used.stream().filter(PolicyCharge::beforeLogin).toList();
		this.used.removeIf(PolicyCharge::beforeLogin);
		return settle(accounts(taken), (account, charge) -> 0).stream().map(Settlement::used).toList();
	}

	/** Adds a charge that has been used. */
	synchronized void add(PolicyCharge charge, @Nullable HttpServletResponse response) {
		this.response = (this.response != null) ? this.response : response;
		this.used.add(charge);
		if (this.used.size() >= this.mostUsed) {
			List<PolicyCharge> summed = List.copyOf(accounts(this.used).values());
			this.used.clear();
			this.used.addAll(summed);
			this.mostUsed = Math.max(MOST_USED, 2 * summed.size());
		}
	}

	private void forgetUsed() {
		this.used.clear();
		this.settled = Map.of();
	}

	/** Adds up charges by policy, identifier, and where they were counted. */
	private static Map<Account, PolicyCharge> accounts(List<PolicyCharge> charges) {
		Map<Account, PolicyCharge> accounts = new LinkedHashMap<>();
		for (PolicyCharge charge : charges) {
			for (Identifier identifier : charge.charge().identifiers()) {
				accounts.merge(Account.of(charge, identifier), withIdentifiers(charge, List.of(identifier)),
						(one, other) -> withCost(one, one.charge().cost() + other.charge().cost()));
			}
		}
		return accounts;
	}

	/**
	 * Notes that the request has failed with an exception. A container may report its end
	 * before it sets the status for that.
	 */
	synchronized void fail() {
		this.failed = true;
	}

	/**
	 * Ends the request. Charges of an error page after that are settled separately.
	 * @return charges with their true costs; empty if no cost changes, and the second
	 * time
	 */
	synchronized List<Settlement> end() {
		List<Settlement> settlements = List.of();
		if (!this.free.isEmpty() || !this.settled.isEmpty() || isProvisional()) {
			Map<Account, PolicyCharge> accounts = accounts(this.used);
			settlements = new ArrayList<>(settle(accounts(this.free), (account, charge) -> 0));
			settlements.addAll(settle(accounts, (account, charge) -> trueCost(account, charge, accounts)));
		}
		this.free.clear();
		forgetUsed();
		return settlements;
	}

	private boolean isProvisional() {
		for (PolicyCharge charge : this.used) {
			if (charge.isProvisional()) {
				return true;
			}
		}
		return false;
	}

	/** Identifiers with the same charged and true cost are settled together. */
	private static List<Settlement> settle(Map<Account, PolicyCharge> charges,
			ToLongBiFunction<Account, PolicyCharge> trueCost) {
		Map<Settlement, List<Identifier>> identifiers = new LinkedHashMap<>();
		charges.forEach((account, charge) -> {
			PolicyCharge ofAnybody = withIdentifiers(charge, List.of(Identifier.GLOBAL));
			identifiers
				.computeIfAbsent(new Settlement(ofAnybody, trueCost.applyAsLong(account, charge)),
						(key) -> new ArrayList<>())
				.addAll(charge.charge().identifiers());
		});
		return identifiers.entrySet()
			.stream()
			.map((entry) -> new Settlement(withIdentifiers(entry.getKey().used(), entry.getValue()),
					entry.getKey().cost()))
			.toList();
	}

	/**
	 * Returns the true cost of an account. If a policy and identifier was counted both in
	 * the store and locally, the true cost is divided: the first account keeps up to what
	 * was charged to it, and the last one gets the rest.
	 */
	private long trueCost(Account account, PolicyCharge charge, Map<Account, PolicyCharge> accounts) {
		long cost = charge.charge().cost();
		if (this.response != null && !counts(charge, this.response)) {
			return 0;
		}
		Long settled = this.settled.get(account.policy());
		if (settled == null) {
			return cost;
		}
		long rest = settled;
		boolean last = true;
		boolean before = true;
		for (Map.Entry<Account, PolicyCharge> other : accounts.entrySet()) {
			if (other.getKey().equals(account)) {
				before = false;
			}
			else if (other.getKey().isOfSame(account)) {
				rest -= before ? Math.min(rest, other.getValue().charge().cost()) : 0;
				last = before && last;
			}
		}
		return last ? rest : Math.min(rest, cost);
	}

	/** Returns true also if the status is no longer available. */
	private boolean counts(PolicyCharge charge, HttpServletResponse response) {
		try {
			int status = response.getStatus();
			boolean failing = this.failed && status < HttpServletResponse.SC_BAD_REQUEST && !response.isCommitted();
			return charge.policy()
				.enforcement()
				.counts(failing ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR : status);
		}
		catch (IllegalStateException ex) {
			return true;
		}
	}

	private static PolicyCharge withCost(PolicyCharge charge, long cost) {
		return charge.withCharge(charge.charge().withCost(cost));
	}

	private static PolicyCharge withIdentifiers(PolicyCharge charge, List<Identifier> identifiers) {
		return charge.withCharge(new Charge(charge.charge().policy(), identifiers, charge.charge().cost()));
	}

	/**
	 * A charge and its true cost.
	 */
	record Settlement(PolicyCharge used, long cost) {

	}

	/**
	 * Where a charge was counted. Plans with the same algorithm and windows share a
	 * count; other plans have separate counts.
	 */
	private record Account(String policy, String stateForm, Identifier identifier, Decision.Source source,
			boolean beforeLogin) {

		static Account of(PolicyCharge charge, Identifier identifier) {
			Policy policy = charge.charge().policy();
			return new Account(policy.name(), policy.stateForm(), identifier, charge.source(), charge.beforeLogin());
		}

		boolean isOfSame(Account other) {
			return this.policy.equals(other.policy) && this.stateForm.equals(other.stateForm)
					&& this.identifier.equals(other.identifier) && this.beforeLogin == other.beforeLogin;
		}

	}

}
