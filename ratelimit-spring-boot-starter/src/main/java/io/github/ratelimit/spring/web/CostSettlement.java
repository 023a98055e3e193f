package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyCharge;
import jakarta.servlet.ServletRequest;
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

	private static final String ATTRIBUTE = CostSettlement.class.getName();

	private final Map<Account, PolicyCharge> used = new LinkedHashMap<>();

	private final Map<String, Long> settled = new HashMap<>();

	private @Nullable HttpServletResponse response;

	private boolean over;

	private CostSettlement() {
	}

	/**
	 * Returns the costs of a request. Code that serves it in another thread takes the
	 * costs with it, and not the request.
	 * @param request the request, while it is being served
	 * @return its costs, always the same
	 */
	public static CostSettlement of(HttpServletRequest request) {
		CostSettlement costs = find(request);
		if (costs == null) {
			costs = new CostSettlement();
			request.setAttribute(ATTRIBUTE, costs);
		}
		return costs;
	}

	static @Nullable CostSettlement find(ServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof CostSettlement costs) ? costs : null;
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
		if (this.over || this.used.keySet().stream().noneMatch((account) -> account.policy().equals(policy))) {
			return false;
		}
		this.settled.put(policy, cost);
		return true;
	}

	/** Lets everything be given back that was used so far. */
	synchronized void giveBack() {
		this.used.keySet().forEach((account) -> this.settled.put(account.policy(), 0L));
	}

	/** Notes what has been used of a policy. */
	synchronized void add(PolicyCharge charge, @Nullable HttpServletResponse response) {
		this.response = (this.response != null) ? this.response : response;
		this.used.merge(Account.of(charge), charge, (one, other) -> new PolicyCharge(one.policy(),
				one.charge().withCost(one.charge().cost() + other.charge().cost()), one.plan(), one.source()));
	}

	/**
	 * Ends the request.
	 * @return what was used with what should have been; nothing the second time
	 */
	synchronized List<Settlement> end() {
		List<Settlement> settlements = new ArrayList<>();
		if (!this.over) {
			this.over = true;
			this.used.forEach((account, charge) -> settlements.add(new Settlement(charge, trueCost(charge))));
		}
		return settlements;
	}

	private long trueCost(PolicyCharge charge) {
		if (this.response != null && !charge.policy().enforcement().counts(this.response.getStatus())) {
			return 0;
		}
		return this.settled.getOrDefault(charge.charge().policy().name(), charge.charge().cost());
	}

	/**
	 * What was used of a policy, and what should have been.
	 */
	record Settlement(PolicyCharge used, long cost) {

	}

	private record Account(String policy, List<Identifier> identifiers, Decision.Source source) {

		static Account of(PolicyCharge used) {
			return new Account(used.charge().policy().name(), used.charge().identifiers(), used.source());
		}

	}

}
