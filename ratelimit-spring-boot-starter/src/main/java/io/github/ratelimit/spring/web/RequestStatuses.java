package io.github.ratelimit.spring.web;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.PolicyCharge;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * How the limits stand that were checked for one HTTP request so far, by filters and
 * annotations together.
 * <p>
 * A limit that was checked for several identifiers stands here once, for the identifier
 * that is closest to being denied: that is what the client has to know.
 * <p>
 * Safe for use by several threads: methods of one request may be called in parallel.
 */
final class RequestStatuses {

	private static final Comparator<LimitStatus> CLOSEST_TO_DENYING = Comparator.comparing(LimitStatus::violated)
		.reversed()
		.thenComparing(LimitStatus::remaining)
		.thenComparing(LimitStatus::resetAfter, Comparator.reverseOrder());

	private final Map<String, LimitStatus> statuses = new LinkedHashMap<>();

	/** What calls have paid to policies that did not count the path by then. */
	private final Map<Account, PolicyCharge> paidByCalls = new LinkedHashMap<>();

	/** The policies, with the quotas of plans, that calls have been checked by. */
	private final Set<Policy> checked = new HashSet<>();

	/** What the path uses, of which calls may have paid a part before. */
	private final Map<Account, PolicyCharge> path = new LinkedHashMap<>();

	/** What has been paid to the policies of the path, by it and by calls. */
	private final Map<Account, Long> paid = new HashMap<>();

	private @Nullable Denial denial;

	/** Returns those of a request; methods of one request may be called in parallel. */
	static RequestStatuses of(HttpServletRequest request) {
		return PerRequest.get(request, RequestStatuses.class, RequestStatuses::new);
	}

	/** Returns whether anything was checked for a request. */
	static boolean exist(HttpServletRequest request) {
		return PerRequest.find(request, RequestStatuses.class) != null;
	}

	/**
	 * Name of a limit on the wire: that of its policy, with the window if it has several.
	 */
	static String name(LimitStatus status) {
		String name = status.policy().name();
		return (status.policy().limits().size() == 1) ? name : name + '/' + status.limit().windowText();
	}

	/** The limit that is closest to denying. */
	static LimitStatus closest(Collection<LimitStatus> statuses) {
		return statuses.stream().min(CLOSEST_TO_DENYING).orElseThrow();
	}

	synchronized void add(Decision decision) {
		decision.statuses().stream().map(RequestStatuses::name).forEach(this.statuses::remove);
		for (LimitStatus status : decision.statuses()) {
			this.statuses.merge(name(status), status,
					(one, other) -> (CLOSEST_TO_DENYING.compare(other, one) < 0) ? other : one);
		}
	}

	/** Forgets how the limits of a policy stand, because that has changed. */
	synchronized void forget(String policy) {
		this.statuses.values().removeIf((status) -> status.policy().name().equals(policy));
	}

	/**
	 * Writes every limit, in the order in which they were first checked.
	 * @return whether there is any, and the response is still to be sent
	 */
	synchronized boolean write(LimitHeaders headers, HttpServletResponse response) {
		if (this.statuses.isEmpty() || response.isCommitted()) {
			return false;
		}
		headers.write(List.copyOf(this.statuses.values()), response);
		return true;
	}

	/** Notes that a path policy has been enforced on this request, whatever comes. */
	synchronized void payForPath(PolicyCharge charge) {
		Account account = Account.of(charge);
		this.paid.merge(account, Math.max(charge.charge().cost(), paidBefore(account)), Math::max);
		this.path.merge(account, charge, RequestStatuses::larger);
	}

	/** Notes that a call has paid: more than the path had, or before it, or beside it. */
	synchronized void payForCall(PolicyCharge charge) {
		if (hasPath(charge)) {
			this.paid.merge(Account.of(charge), charge.charge().cost(), Math::max);
		}
		else {
			this.paidByCalls.merge(Account.of(charge), charge,
					(one, other) -> withCost(one, NextRequest.sum(one.charge().cost(), other.charge().cost())));
			Policy policy = CountedPolicy.enforced(charge);
			if (policy != null) {
				this.checked.add(policy);
			}
		}
	}

	/** Whether the path of this request has paid to the policy and identifiers. */
	synchronized boolean hasPath(PolicyCharge charge) {
		return this.path.containsKey(Account.of(charge));
	}

	/** Whether calls have paid to the policy and identifiers before the path did. */
	synchronized boolean hasCalls(PolicyCharge charge) {
		return this.paidByCalls.containsKey(Account.of(charge));
	}

	/** What of a call the path of this request has not paid; empty if it has all. */
	synchronized Optional<PolicyCharge> unpaidByPath(PolicyCharge call) {
		return rest(call, this.paid.getOrDefault(Account.of(call), 0L), hasPath(call));
	}

	/**
	 * What of the path earlier calls have not paid; empty if they have all. Where they
	 * have paid before login it is a cost of 0, which tells how the limits of the plan
	 * stand.
	 */
	synchronized Optional<PolicyCharge> unpaidByCalls(PolicyCharge path) {
		Optional<PolicyCharge> unpaid = rest(path, paidBefore(Account.of(path)), hasCalls(path));
		Policy policy = CountedPolicy.enforced(path);
		return (unpaid.isPresent() || policy == null || this.checked.contains(policy)) ? unpaid
				: Optional.of(withCost(path, 0));
	}

	private static Optional<PolicyCharge> rest(PolicyCharge charge, long paid, boolean isPaid) {
		long rest = charge.charge().cost() - paid;
		return !isPaid ? Optional.of(charge) : (rest > 0) ? Optional.of(withCost(charge, rest)) : Optional.empty();
	}

	private long paidBefore(Account account) {
		PolicyCharge paid = this.paidByCalls.get(account);
		return (paid != null) ? paid.charge().cost() : 0;
	}

	/** What the path of this request has paid itself, if it was allowed to. */
	synchronized List<PolicyCharge> paidByPath() {
		return this.path.values().stream().flatMap((charge) -> unpaidByCalls(charge).stream()).toList();
	}

	/** Whether the path of this request, or calls, have paid anything. */
	synchronized boolean hasPaid() {
		return !this.path.isEmpty() || !this.paidByCalls.isEmpty();
	}

	/**
	 * All that the request would have to use the next time: the others, and what its path
	 * uses, and calls have paid, beside them.
	 */
	synchronized NextRequest next(List<PolicyCharge> others) {
		Map<Account, PolicyCharge> all = new LinkedHashMap<>(this.path);
		others.forEach((charge) -> all.put(Account.of(charge), charge));
		this.paidByCalls.forEach((account, charge) -> all.merge(account, charge, RequestStatuses::larger));
		return NextRequest.of(List.copyOf(all.values()));
	}

	private static PolicyCharge larger(PolicyCharge one, PolicyCharge other) {
		return (other.charge().cost() > one.charge().cost()) ? other : one;
	}

	/**
	 * Notes that a call was denied.
	 * @param decision what the caller is told
	 * @param charges what the request would have to use the next time
	 */
	synchronized void deny(Decision decision, List<PolicyCharge> charges) {
		this.denial = new Denial(decision, charges);
	}

	/** What a request would have to use the next time; empty if that is not noted. */
	synchronized List<PolicyCharge> takeDenied(Decision decision) {
		Denial noted = this.denial;
		if (noted == null || noted.decision() != decision) {
			return List.of();
		}
		this.denial = null;
		return noted.charges();
	}

	private record Denial(Decision decision, List<PolicyCharge> charges) {

	}

	private static PolicyCharge withCost(PolicyCharge charge, long cost) {
		return new PolicyCharge(charge.policy(), charge.charge().withCost(cost), charge.plan());
	}

	/** Nobody has a plan before login, which may be counted with those who have one. */
	private record Account(CountedPolicy policy, Set<Identifier> identifiers) {

		static Account of(PolicyCharge charge) {
			return new Account(CountedPolicy.of(charge), Set.copyOf(charge.charge().identifiers()));
		}

	}

}
