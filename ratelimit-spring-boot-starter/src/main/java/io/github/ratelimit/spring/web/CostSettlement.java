package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.decide.Counted;
import io.github.ratelimit.spring.decide.PolicyCharge;
import io.github.ratelimit.spring.policy.Enforcement;
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

	/** A status that no response has. */
	private static final int UNKNOWN = 0;

	/** Charges to be settled. */
	private final List<PolicyCharge> used = new ArrayList<>(2);

	/** Charges to be refunded. */
	private List<PolicyCharge> free = List.of();

	/** True costs by the names of policies. */
	private Map<String, Long> settled = Map.of();

	/** Knows all policies; {@code null} if the limiter is off. */
	private volatile @Nullable SettledPolicies policies;

	private @Nullable HttpServletResponse response;

	/** Whether the response decides over a charge. */
	private boolean provisional;

	private boolean failed;

	/** Whether the response may reset counts. */
	private boolean resets = true;

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
		CostSettlement costs = RequestState.of(request).costs();
		costs.policies = SettledPolicies.of(request);
		return costs;
	}

	/**
	 * Sets the true cost of the request in a policy. The last call wins.
	 * <p>
	 * If there is no policy of that name at all, this is logged once as an error, and
	 * nothing is settled; in tests with {@code @AutoConfigureRateLimit} an exception is
	 * thrown.
	 * @param policy the name of the policy
	 * @param cost the true cost, 0 or more
	 * @return whether the policy counts this request, which has not ended
	 * @throws IllegalArgumentException if the cost is negative
	 */
	public synchronized boolean settle(String policy, long cost) {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%s): must not be negative.".formatted(cost));
		}
		if (this.used.stream().noneMatch((charge) -> charge.charge().policy().name().equals(policy))) {
			SettledPolicies policies = this.policies;
			if (policies != null) {
				policies.requireKnown(policy);
			}
			return false;
		}
		if (this.settled.isEmpty()) {
			this.settled = new HashMap<>();
		}
		this.settled.put(policy, cost);
		return true;
	}

	/** Refunds everything that was used so far. */
	synchronized void refund() {
		if (!this.used.isEmpty()) {
			this.free = Stream.concat(this.free.stream(), this.used.stream()).toList();
			forgetUsed();
		}
	}

	/** Adds a charge that has been used. */
	synchronized void add(PolicyCharge charge, @Nullable HttpServletResponse response) {
		this.response = (this.response != null) ? this.response : response;
		this.provisional |= charge.isProvisional() || charge.policy().enforcement().resetWhen() != null;
		this.used.add(charge);
		if (this.used.size() >= this.mostUsed) {
			List<PolicyCharge> summed = accounts(this.used).stream().flatMap(List::stream).toList();
			this.used.clear();
			this.used.addAll(summed);
			this.mostUsed = Math.max(MOST_USED, 2 * summed.size());
		}
	}

	private void forgetUsed() {
		this.used.clear();
		this.settled = Map.of();
		this.provisional = false;
	}

	/**
	 * Notes that the request has failed with an exception. It ends before the container
	 * sets the status for that.
	 */
	synchronized void fail() {
		this.failed = true;
		this.resets = false;
	}

	/**
	 * Notes that the client may have received nothing, whatever the status. What it has
	 * used stays counted as that says.
	 */
	synchronized void resetNothing() {
		this.resets = false;
	}

	/**
	 * Ends the request. Charges of an error page after that are settled separately.
	 * @return charges with their true costs; empty if no cost changes, and the second
	 * time
	 */
	synchronized List<Settlement> end() {
		boolean changes = !this.free.isEmpty() || !this.settled.isEmpty() || this.provisional;
		List<Settlement> settlements = changes
				? Stream.concat(settlements(this.free, true), settlements(this.used, false)).toList() : List.of();
		this.free = List.of();
		forgetUsed();
		return settlements;
	}

	/** Identifiers with the same charged and true cost are settled together. */
	private Stream<Settlement> settlements(List<PolicyCharge> charges, boolean free) {
		Map<Settlement, List<Identifier>> identifiers = new LinkedHashMap<>();
		int status = status();
		for (List<PolicyCharge> account : accounts(charges)) {
			Long rest = this.settled.get(account.get(0).charge().policy().name());
			for (Iterator<PolicyCharge> each = account.iterator(); each.hasNext();) {
				PolicyCharge charge = each.next();
				long cost = charge.charge().cost();
				Enforcement enforcement = charge.policy().enforcement();
				if (free || (status != UNKNOWN && !enforcement.counts(status))) {
					cost = 0;
				}
				else if (rest != null) {
					// The last one gets all that is left.
					cost = each.hasNext() ? Math.min(rest, cost) : rest;
					rest -= cost;
				}
				if (!free && this.resets && enforcement.resets(status, charge.charge().identifiers().get(0).type())) {
					cost = Counted.RESET;
				}
				identifiers
					.computeIfAbsent(new Settlement(with(List.of(Identifier.GLOBAL), charge), cost),
							(key) -> new ArrayList<>())
					.addAll(charge.charge().identifiers());
			}
		}
		return identifiers.entrySet()
			.stream()
			.map((entry) -> new Settlement(with(entry.getValue(), entry.getKey().used()), entry.getKey().cost()));
	}

	/**
	 * Adds up charges by their counts, and where these are: in the store or locally.
	 * @return the charges of each count, for one identifier each
	 */
	private static List<List<PolicyCharge>> accounts(List<PolicyCharge> charges) {
		Map<PolicyCharge.Account, Map<Decision.Source, PolicyCharge>> accounts = new LinkedHashMap<>();
		for (PolicyCharge charge : charges) {
			for (Identifier identifier : charge.charge().identifiers()) {
				accounts.computeIfAbsent(charge.account(identifier), (key) -> new LinkedHashMap<>())
					.merge(charge.source(), with(List.of(identifier), charge), (one, other) -> one
						.withCharge(one.charge().withCost(one.charge().cost() + other.charge().cost())));
			}
		}
		return accounts.values().stream().map((account) -> List.copyOf(account.values())).toList();
	}

	private static PolicyCharge with(List<Identifier> identifiers, PolicyCharge charge) {
		return charge.withCharge(new Charge(charge.charge().policy(), identifiers, charge.charge().cost()));
	}

	/** Returns the status of the response, unless that is no longer available. */
	private int status() {
		if (this.response == null) {
			return UNKNOWN;
		}
		try {
			int status = this.response.getStatus();
			boolean failing = this.failed && status < HttpServletResponse.SC_BAD_REQUEST
					&& !this.response.isCommitted();
			return failing ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR : status;
		}
		catch (IllegalStateException ex) {
			return UNKNOWN;
		}
	}

	/** A charge and its true cost, or {@link Counted#RESET}. */
	record Settlement(PolicyCharge used, long cost) {

	}

}
