package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.decide.PolicyCharge.Account;
import org.jspecify.annotations.Nullable;

/**
 * Charges of requests in progress on this instance that may be refunded, because their
 * policy counts only some responses. The store counts them like other charges.
 * <p>
 * The duration of a request is unknown. So a denied request that would be allowed after
 * these refunds gets the shortest {@code Retry-After}, and is told that more quota
 * arrives by then. Requests in progress on other instances are unknown here. The same
 * applies to requests that are denied because others run at the same time.
 * <p>
 * Safe for use by several threads.
 */
final class Reservations {

	/** Shortest time to wait, and the time for which denials are remembered. */
	static final Duration SOON = Duration.ofSeconds(1);

	/** Servlet containers sometimes drop a request without an event for its end. */
	private static final Duration FORGOTTEN = Duration.ofHours(1);

	/** What is held, by what may deny a request. */
	final ConcurrentMap<Account, Held> held;

	/** Names, as in the store, of the policies that may have reservations. */
	private final Set<String> policies = ConcurrentHashMap.newKeySet();

	private final Ticker ticker;

	Reservations(Ticker ticker) {
		this.ticker = ticker;
		this.held = Caffeine.newBuilder()
			.executor(Runnable::run)
			.expireAfterWrite(FORGOTTEN)
			.ticker(ticker)
			.<Account, Held>build()
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
		used.charge()
			.identifiers()
			.forEach((identifier) -> this.held.merge(used.account(identifier),
					new Held(used.charge().cost(), this.ticker.read()), Held::with));
	}

	/** Removes a charge that has been settled. */
	void remove(PolicyCharge used) {
		if (used.isProvisional()) {
			used.charge()
				.identifiers()
				.forEach((identifier) -> this.held.computeIfPresent(used.account(identifier),
						(key, held) -> held.without(used.charge().cost())));
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

	/** Nobody knows when a concurrent call ends, here or on another instance. */
	private boolean mayBeAllowedSoon(LimitStatus status, List<PolicyCharge> charges) {
		Duration retryAfter = status.retryAfter();
		return status.violated() && retryAfter != null && retryAfter.compareTo(SOON) > 0
				&& (status.policy().algorithm().countsCalls() || mayBeRefunded(status, charges));
	}

	private boolean mayBeRefunded(LimitStatus status, List<PolicyCharge> charges) {
		return !this.held.isEmpty() && charges.stream()
			.filter((charge) -> charge.isProvisional() && charge.charge().policy().equals(status.policy()))
			.anyMatch((charge) -> charge.charge().cost()
					- status.remaining() <= held(charge.account(status.identifier())));
	}

	private long held(Account account) {
		Held held = this.held.get(account);
		return (held != null) ? held.cost() : 0;
	}

	/**
	 * The sum of reserved costs. Where requests arrive all the time, the costs of dropped
	 * requests would never expire; so the sum is started again after a time.
	 *
	 * @param since when it was started, in nanoseconds
	 */
	record Held(long cost, long since) {

		Held with(Held more) {
			return (more.since - this.since > FORGOTTEN.toNanos()) ? more : new Held(this.cost + more.cost, this.since);
		}

		@Nullable Held without(long cost) {
			return (this.cost > cost) ? new Held(this.cost - cost, this.since) : null;
		}

	}

}
