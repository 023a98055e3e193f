package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.decide.PolicyCharge.Account;

/**
 * Charges of requests in progress on this instance that may be refunded, because their
 * policy counts only some responses. Nobody knows how long a request takes: one that is
 * denied, and would be allowed after these refunds, is told to try again soon, and that
 * more quota arrives by then. So is one that is denied because others run at the same
 * time.
 */
final class Reservations {

	/** Shortest time to wait, and the time for which denials are remembered. */
	static final Duration SOON = Duration.ofSeconds(1);

	/**
	 * Servlet containers sometimes drop a request without an event for its end. After
	 * this time a sum is started again, also while other requests change it.
	 */
	private static final Duration FORGOTTEN = Duration.ofHours(1);

	/** The sums of what is held, by what may deny a request. */
	final ConcurrentMap<Account, Long> held;

	/** Names, as in the store, of the policies that may have reservations. */
	private final Set<String> policies = ConcurrentHashMap.newKeySet();

	Reservations(Ticker ticker) {
		this.held = Caffeine.newBuilder()
			.executor(Runnable::run)
			.expireAfter(Expiry.<Account, Long>creating((account, cost) -> FORGOTTEN))
			.ticker(ticker)
			.build()
			.asMap();
	}

	/** Notes that a policy, as in the store, may have reservations. */
	void register(Policy policy) {
		this.policies.add(policy.name());
	}

	/**
	 * Returns the longest time for which a denial of a policy may be remembered. Other
	 * instances give back what they do not use of a lease.
	 */
	Duration longestDenial(Policy policy) {
		Duration longest = this.policies.contains(policy.name()) ? SOON : DenialCache.LONGEST_AGE;
		Duration lease = policy.lease();
		return (lease != null && lease.compareTo(longest) < 0) ? lease : longest;
	}

	/** Adds a provisional charge that will be settled. */
	void add(PolicyCharge used) {
		long cost = used.charge().cost();
		used.charge().identifiers().forEach((identifier) -> this.held.merge(used.account(identifier), cost, Long::sum));
	}

	/** Removes a charge that has been settled. */
	void remove(PolicyCharge used) {
		if (used.isProvisional()) {
			long cost = used.charge().cost();
			used.charge()
				.identifiers()
				.forEach((identifier) -> this.held.computeIfPresent(used.account(identifier),
						(account, held) -> (held > cost) ? held - cost : null));
		}
	}

	/** Returns a denial with shorter times if refunds may allow the request. */
	Decision withEarlierRetry(Decision decision, List<PolicyCharge> charges) {
		if (decision.statuses().stream().noneMatch((status) -> mayBeAllowedSoon(status, charges))) {
			return decision;
		}
		return new Decision(false,
				decision.statuses()
					.stream()
					.map((status) -> mayBeAllowedSoon(status, charges) ? withEarlierRetry(status) : status)
					.toList(),
				decision.blockedFor(), decision.source(), decision.shadows());
	}

	/** A client should not be asked to come back before more quota arrives. */
	private static LimitStatus withEarlierRetry(LimitStatus status) {
		Duration resetAfter = (status.resetAfter().compareTo(SOON) < 0) ? status.resetAfter() : SOON;
		return new LimitStatus(status.policy(), status.identifier(), status.limit(), status.remaining(), resetAfter,
				SOON, true);
	}

	/** Concurrent calls may end soon here or on another instance. */
	private boolean mayBeAllowedSoon(LimitStatus status, List<PolicyCharge> charges) {
		Duration retryAfter = status.retryAfter();
		return status.violated() && retryAfter != null && retryAfter.compareTo(SOON) > 0
				&& (status.policy().algorithm().countsCalls() || mayBeRefunded(status, charges));
	}

	private boolean mayBeRefunded(LimitStatus status, List<PolicyCharge> charges) {
		return !this.held.isEmpty() && charges.stream()
			.filter((charge) -> charge.isProvisional() && charge.charge().policy().equals(status.policy()))
			.anyMatch((charge) -> charge.charge().cost() - status.remaining() <= this.held
				.getOrDefault(charge.account(status.identifier()), 0L));
	}

}
