package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.OutageHandling;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.PolicySource;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * Decides requests over the current policies, and notifies listeners.
 * <p>
 * All policies are decided in one call of the store: those that may deny together, all or
 * nothing, and each policy in shadow mode separately, so that it does not affect the
 * request. If the request is denied, policies in shadow mode count nothing, and listeners
 * are not notified of them.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class PolicyDecisions {

	private static final Decision NOTHING_TO_DENY = new Decision(true, List.of());

	/** Calls the store, through the denial cache if there is one. */
	private final OutageRateLimiter limiter;

	private final LocalRateLimiter local;

	private final Reservations reservations = new Reservations(Ticker.systemTicker());

	/** Notifies the listeners; {@code null} if there are none. */
	private final @Nullable PolicyOutcomes outcomes;

	private final SingletonSupplier<List<PolicySource>> sources;

	/**
	 * Creates decisions that remember no denials.
	 * @param store decides, and may fail
	 * @param listeners are notified of every decision, in this order
	 * @param sources supplies the sources that change the policies, one after another;
	 * called once, with the first decision, because sources may depend on beans whose
	 * methods are limited
	 */
	public PolicyDecisions(RateLimiter store, List<DecisionListener> listeners, Supplier<List<PolicySource>> sources) {
		this(store, listeners, sources, OutageHandling.ofRedis(() -> 1), null);
	}

	/**
	 * Creates decisions.
	 * @param store decides, and may fail
	 * @param listeners are notified of every decision, in this order
	 * @param sources supplies the sources that change the policies, one after another;
	 * called once, with the first decision
	 * @param outages how requests are decided when the store fails
	 * @param denials remembers identifiers that the store has denied; {@code null} to
	 * call it each time
	 */
	public PolicyDecisions(RateLimiter store, List<DecisionListener> listeners, Supplier<List<PolicySource>> sources,
			OutageHandling outages, @Nullable DenialCache denials) {
		this.local = outages.local();
		RateLimiter cached = (denials != null) ? denials.cache(store, this.reservations::longestDenial) : store;
		// Each request has its own rule for when the store fails.
		this.limiter = new OutageRateLimiter(cached, (policy) -> OnStoreFailure.DENY, this.local, outages.isOutage());
		this.outcomes = listeners.isEmpty() ? null : new PolicyOutcomes(listeners, this::source);
		this.sources = SingletonSupplier.of(() -> sources.get()
			.stream()
			.map((source) -> CheckedPolicySource.of(source, store::requireSupported))
			.toList());
	}

	/**
	 * Returns the current form of a policy, for an unknown caller.
	 * @param configured the policy as configured
	 * @return the policy as the sources return it; the same if they do not change it
	 */
	public IdentifiedPolicy current(IdentifiedPolicy configured) {
		return current(configured, Caller.UNKNOWN);
	}

	/**
	 * Returns a use of the current form of its policy. Call it for each request, before
	 * its identifiers and plan are found.
	 * @param configured a use of the policy as configured
	 * @param caller finds identifiers, except the expressions, whose values the use has
	 * @return the same use of the policy as the sources return it
	 */
	public PolicyUse current(PolicyUse configured, Caller caller) {
		return configured.withPolicy(current(configured.policy(), (name) -> configured.identify(name, caller::find)));
	}

	private IdentifiedPolicy current(IdentifiedPolicy configured, Caller caller) {
		IdentifiedPolicy policy = configured;
		for (PolicySource source : this.sources.obtain()) {
			policy = source.current(policy, caller);
		}
		return policy;
	}

	/**
	 * Decides a request, over the {@linkplain #current(PolicyUse, Caller) current}
	 * policies, for the plan of each charge. The store is not called for charges that
	 * cost nothing, which are always allowed.
	 * @param requested a charge for each policy, without duplicates; may be empty
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision decide(List<PolicyCharge> requested) {
		return decideAll(requested, (charge) -> {
		});
	}

	/**
	 * Decides a request as {@link #decide(List)}, and lets it be settled later.
	 * @param requested a charge for each policy, without duplicates; may be empty
	 * @param used receives the charges that were used, each of which must be
	 * {@linkplain #settle settled} or {@linkplain #refund refunded} later
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision decide(List<PolicyCharge> requested, Consumer<PolicyCharge> used) {
		return decideAll(requested, (charge) -> {
			if (charge.isProvisional()) {
				this.reservations.add(charge);
			}
			used.accept(charge);
		});
	}

	private Decision decideAll(List<PolicyCharge> requested, Consumer<PolicyCharge> used) {
		List<PolicyCharge> charges = new ArrayList<>(requested.size());
		for (PolicyCharge each : requested) {
			PolicyCharge charge = each.ofPlan().orElse(null);
			if (charge != null && charge.charge().cost() > 0) {
				charges.add(charge);
			}
			else if (charge != null) {
				used.accept(charge);
			}
		}
		return charges.isEmpty() ? NOTHING_TO_DENY : acquire(charges, used);
	}

	/**
	 * Settles a charge where it was counted: refunds or charges the difference to its
	 * true cost. If the store fails, its counts stay as they are.
	 * @param used the charge that was used
	 * @param cost the true cost, 0 or more
	 */
	public void settle(PolicyCharge used, long cost) {
		long difference = cost - used.charge().cost();
		try {
			if (difference < 0) {
				limiter(used).refund(RateLimitRequest.of(BeforeLogin.counted(used).withCost(-difference)));
			}
			else if (difference > 0) {
				limiter(used).charge(RateLimitRequest.of(BeforeLogin.counted(used).withCost(difference)));
			}
		}
		finally {
			this.reservations.remove(used);
		}
	}

	/**
	 * Refunds the charges of one decision, at once. If the store fails, its counts stay
	 * as they are.
	 * @param used the charges that were used, at least one, each of another policy
	 */
	public void refund(List<PolicyCharge> used) {
		try {
			used.stream()
				.filter((charge) -> charge.charge().cost() > 0)
				.collect(Collectors.groupingBy(this::limiter,
						Collectors.mapping(BeforeLogin::counted, Collectors.toList())))
				.forEach((limiter, charges) -> limiter.refund(new RateLimitRequest(charges)));
		}
		finally {
			used.forEach(this.reservations::remove);
		}
	}

	/** Returns the limiter that has counted a charge. */
	private RateLimiter limiter(PolicyCharge used) {
		return (used.source() == Decision.Source.LOCAL) ? this.local : this.limiter;
	}

	/**
	 * Rejects a policy that the store does not support.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm or its options are not supported
	 */
	public void requireSupported(Policy policy) {
		this.limiter.requireSupported(policy);
	}

	/**
	 * Returns the rate limiter that knows whether the store fails. Code that calls the
	 * store in another way reports failures to it.
	 * @return the rate limiter behind all decisions
	 */
	public OutageRateLimiter outage() {
		return this.limiter;
	}

	/** Returns the charge that the store counts. */
	private static Charge counted(PolicyCharge charge) {
		Charge counted = charge.beforeLogin() ? BeforeLogin.counted(charge) : charge.charge();
		return charge.isShadow() ? counted.inShadow() : counted;
	}

	private Decision acquire(List<PolicyCharge> charges, Consumer<PolicyCharge> used) {
		long start = System.nanoTime();
		Decision decision;
		try {
			decision = tryAcquire(charges);
		}
		catch (StoreException ex) {
			notify(charges, null, start);
			throw ex;
		}
		notify(charges, decision, start);
		for (int i = 0; decision.allowed() && i < charges.size(); i++) {
			PolicyCharge charge = charges.get(i);
			Decision own = own(charge, decision);
			Decision.Source source = source(charge, own);
			if (own.allowed() && source != Decision.Source.NONE) {
				used.accept(charge.countedIn(source));
			}
		}
		return decision;
	}

	private void notify(List<PolicyCharge> charges, @Nullable Decision decision, long start) {
		if (this.outcomes != null) {
			this.outcomes.notify(charges, decision, start);
		}
	}

	/** Returns what a decision over several policies means for the policy of a charge. */
	static Decision own(PolicyCharge charge, Decision decision) {
		return charge.isShadow() ? decision.shadow(charge.charge()) : decision;
	}

	/**
	 * Returns where a charge was decided. During an outage, policies that are not limited
	 * locally are allowed if those that are allow the request. If the store is only busy,
	 * all policies are limited.
	 */
	private Decision.Source source(PolicyCharge charge, Decision own) {
		boolean unlimited = own.source() == Decision.Source.LOCAL && own.allowed()
				&& this.limiter.failingSince().isPresent()
				&& charge.policy().enforcement().whenStoreFails() != OnStoreFailure.LOCAL;
		return unlimited ? Decision.Source.NONE : own.source();
	}

	private Decision tryAcquire(List<PolicyCharge> charges) {
		List<Charge> counted = new ArrayList<>(charges.size());
		List<LimitStatus> impossible = List.of();
		boolean beforeLogin = false;
		for (PolicyCharge charge : charges) {
			counted.add(counted(charge));
			beforeLogin |= charge.beforeLogin();
			if (charge.isProvisional()) {
				this.reservations.register(counted.get(counted.size() - 1).policy());
			}
			if (isImpossible(charge)) {
				impossible = Stream.concat(impossible.stream(), impossible(charge.charge())).toList();
			}
		}
		if (!impossible.isEmpty()) {
			return new Decision(false, impossible, null, Decision.Source.DENIAL_CACHE);
		}
		Decision decision = this.limiter.tryAcquire(new RateLimitRequest(counted),
				(policy) -> whenStoreFails(policy, charges, counted));
		Decision named = beforeLogin ? BeforeLogin.restoreNames(decision, charges) : decision;
		return named.allowed() ? named : this.reservations.withEarlierRetry(named, charges);
	}

	private static OnStoreFailure whenStoreFails(Policy policy, List<PolicyCharge> charges, List<Charge> counted) {
		int at = counted.stream().map(Charge::policy).toList().indexOf(policy);
		return charges.get(at).policy().enforcement().whenStoreFails();
	}

	/**
	 * Returns whether a charge is denied without calling the store, because the quota of
	 * a limit is 0. Policies that count denied requests need the store, for their other
	 * limits.
	 */
	private static boolean isImpossible(PolicyCharge charge) {
		Policy policy = charge.charge().policy();
		for (Limit limit : policy.limits()) {
			if (limit.quota() == 0) {
				return !policy.countDenied() && !charge.isShadow();
			}
		}
		return false;
	}

	private static Stream<LimitStatus> impossible(Charge charge) {
		return charge.policy()
			.limits()
			.stream()
			.filter((limit) -> limit.quota() == 0)
			.flatMap((limit) -> charge.identifiers()
				.stream()
				.map((identifier) -> LimitStatus.ofMicros(charge.policy(), identifier, limit, 0, 0, -1, true)));
	}

}
