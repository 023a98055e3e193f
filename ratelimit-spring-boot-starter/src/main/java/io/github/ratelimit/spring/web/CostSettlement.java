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
import io.github.ratelimit.spring.PolicyCharge;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * What a request costs in the end, for handlers that know it only then: bytes, rows,
 * tokens. The cost that was asked for at first is an estimate that is held until the
 * request is over; then the difference to the true cost is given back, or charged even if
 * it is more than what is left. Nothing changes if the handler tells no cost.
 * <p>
 * If the application dies in between, the estimate counts for as long as any cost.
 * <p>
 * Safe for use by several threads, so that what serves the request asynchronously may
 * take it with it.
 *
 * @since 0.1
 */
public final class CostSettlement {

	/** So many charges are kept before they are added up. */
	private static final int MOST_USED = 64;

	/** What has been used, and is still to be settled. */
	private final List<PolicyCharge> used = new ArrayList<>(2);

	/** What has been used, and is to be given back in any case. */
	private final List<PolicyCharge> free = new ArrayList<>(0);

	/** True costs by the names of policies. */
	private Map<String, Long> settled = Map.of();

	private @Nullable HttpServletResponse response;

	private boolean failed;

	private int mostUsed = MOST_USED;

	CostSettlement() {
	}

	/**
	 * Returns the costs of a request. Code that serves it in another thread takes the
	 * costs with it, and not the request.
	 * @param request the request, while it is being served
	 * @return its costs, always the same
	 */
	public static CostSettlement of(HttpServletRequest request) {
		return RequestState.of(request).costs();
	}

	/**
	 * Tells what the request really costs in a policy, whatever it was taken to cost so
	 * far. The last word counts.
	 * @param policy the name of the policy
	 * @param cost the true cost, 0 or more
	 * @return whether this request is counted by the policy, and not yet over
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
	 * Removes what was used before the login, because the request has come through it.
	 * The caller gives it back.
	 */
	synchronized List<PolicyCharge> takeBeforeLogin() {
		List<PolicyCharge> taken = this.used.stream().filter(PolicyCharge::beforeLogin).toList();
		this.used.removeIf(PolicyCharge::beforeLogin);
		return settle(accounts(taken), (account, charge) -> 0).stream().map(Settlement::used).toList();
	}

	/** Notes what has been used of a policy. */
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

	/** Adds up what was used by policy, identifier and place. */
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
	 * Notes that the request has failed by an exception. A container may tell of its end
	 * before it makes a response of that.
	 */
	synchronized void fail() {
		this.failed = true;
	}

	/**
	 * Ends the request. What an error page uses after that has an end of its own.
	 * @return what was used with what should have been; empty if all of it stays as it
	 * was counted, and the second time
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

	/** Identifiers that have used the same, and should have, are settled together. */
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
	 * What should have been used where it was counted. The cost of a policy and
	 * identifier that was counted in the store and locally is settled once: what was used
	 * first counts as far as it goes, and what was used last makes up for the rest.
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

	/** What has a status that can no longer be known stays counted. */
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
	 * What was used of a policy, and what should have been.
	 */
	record Settlement(PolicyCharge used, long cost) {

	}

	/**
	 * Where something was counted. Plans with the same algorithm and windows share a
	 * count; other plans have counts of their own.
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
