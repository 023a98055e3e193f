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

/**
 * Decides over policies as each of them is to be enforced, and tells the listeners.
 * <p>
 * All policies are decided in one call of the store: those that may deny together, all or
 * nothing, and each policy in shadow mode by itself, so that it changes nothing of what
 * becomes of the request. If the request is denied, policies in shadow mode count
 * nothing, and nothing is told of them.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class PolicyDecisions {

	private static final Decision NOTHING_TO_DENY = new Decision(true, List.of());

	/** The store, behind the denial cache if there is one. */
	private final OutageRateLimiter limiter;

	private final LocalRateLimiter local;

	private final Reservations reservations = new Reservations(Ticker.systemTicker());

	private final PolicyOutcomes outcomes;

	private final CurrentPolicies policies;

	/**
	 * Creates decisions over policies that change.
	 * @param store what decides, and may fail
	 * @param listeners are told of every decision, in this order
	 * @param sources supplies what says what the policies are now, one after another;
	 * asked only once, with the first decision, because sources may depend on beans whose
	 * methods are limited
	 */
	public PolicyDecisions(RateLimiter store, List<DecisionListener> listeners, Supplier<List<PolicySource>> sources) {
		this(store, listeners, sources, OutageHandling.ofRedis(() -> 1), null);
	}

	/**
	 * Creates decisions over policies that change.
	 * @param store what decides, and may fail
	 * @param listeners are told of every decision, in this order
	 * @param sources supplies what says what the policies are now, one after another;
	 * asked only once, with the first decision
	 * @param outages what to do when the store fails
	 * @param denials remembers whom the store has denied; {@code null} to ask it each
	 * time
	 */
	public PolicyDecisions(RateLimiter store, List<DecisionListener> listeners, Supplier<List<PolicySource>> sources,
			OutageHandling outages, @Nullable DenialCache denials) {
		this.local = outages.local();
		RateLimiter cached = (denials != null) ? denials.cache(store, this.reservations::longestDenial) : store;
		// Every request says itself what is to become of it.
		this.limiter = new OutageRateLimiter(cached, (policy) -> OnStoreFailure.DENY, this.local, outages.isOutage());
		this.outcomes = new PolicyOutcomes(listeners, this.limiter);
		this.policies = new CurrentPolicies(sources, store::requireSupported);
	}

	/**
	 * Returns a policy as it is to be enforced now, for nobody in particular.
	 * @param configured the policy as it is configured
	 * @return the policy as the sources of policies say; the same if they change nothing
	 */
	public IdentifiedPolicy current(IdentifiedPolicy configured) {
		return this.policies.current(configured, Caller.UNKNOWN);
	}

	/**
	 * Returns a use of the policy as it is to be enforced now. To be asked for each
	 * request, before its identifiers and plan are found out.
	 * @param configured a use of the policy as it is configured
	 * @param caller who uses it; what the use knows of identifiers is added
	 * @return the same use of the policy as the sources of policies say
	 */
	public PolicyUse current(PolicyUse configured, Caller caller) {
		return configured
			.withPolicy(this.policies.current(configured.policy(), (name) -> configured.identify(name, caller::find)));
	}

	/**
	 * Decides a request, over the {@linkplain #current(PolicyUse, Caller) current}
	 * policies, for the plan of each charge. What costs nothing is always allowed, and
	 * nobody is asked about it.
	 * @param requested what the request uses of each policy, none twice; may be empty
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision decide(List<PolicyCharge> requested) {
		return decideAll(requested, (charge) -> {
		});
	}

	/**
	 * Decides a request as {@link #decide(List)}, and will settle it.
	 * @param requested what the request uses of each policy, none twice; may be empty
	 * @param used is told what has been used, all of which is to be {@linkplain #settle
	 * settled} or {@linkplain #giveBack given back} later
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision decide(List<PolicyCharge> requested, Consumer<PolicyCharge> used) {
		return decideAll(requested, (charge) -> {
			if (charge.isProvisional()) {
				this.reservations.hold(charge);
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
	 * Settles what has been used, where it was counted: gives back what is too much, and
	 * charges what is too little. If the store fails nothing is changed in it.
	 * @param used what has been used
	 * @param cost what should have been, 0 or more
	 */
	public void settle(PolicyCharge used, long cost) {
		long difference = cost - used.charge().cost();
		try {
			if (difference < 0) {
				where(used).refund(RateLimitRequest.of(BeforeLogin.counted(used).withCost(-difference)));
			}
			else if (difference > 0) {
				where(used).charge(RateLimitRequest.of(BeforeLogin.counted(used).withCost(difference)));
			}
		}
		finally {
			this.reservations.release(used);
		}
	}

	/**
	 * Gives all of it back that one decision has used, at once. If the store fails
	 * nothing is changed in it.
	 * @param used what has been used, at least one charge, each of another policy
	 */
	public void giveBack(List<PolicyCharge> used) {
		try {
			used.stream()
				.filter((charge) -> charge.charge().cost() > 0)
				.collect(Collectors.groupingBy(this::where,
						Collectors.mapping(BeforeLogin::counted, Collectors.toList())))
				.forEach((limiter, charges) -> limiter.refund(new RateLimitRequest(charges)));
		}
		finally {
			used.forEach(this.reservations::release);
		}
	}

	private RateLimiter where(PolicyCharge used) {
		return (used.source() == Decision.Source.LOCAL) ? this.local : this.limiter;
	}

	/**
	 * Refuses a policy that the store cannot hold.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm or its options are not supported
	 */
	public void requireSupported(Policy policy) {
		this.limiter.requireSupported(policy);
	}

	/**
	 * Returns what asks the store, which knows whether the store fails, and learns it
	 * from those who ask the store in another way.
	 * @return the rate limiter behind all decisions
	 */
	public OutageRateLimiter outage() {
		return this.limiter;
	}

	/** What the store counts. */
	private static Charge counted(PolicyCharge charge) {
		Charge counted = charge.beforeLogin() ? BeforeLogin.counted(charge) : charge.charge();
		return PolicyOutcomes.isShadow(charge) ? counted.inShadow() : counted;
	}

	private Decision acquire(List<PolicyCharge> charges, Consumer<PolicyCharge> used) {
		long start = System.nanoTime();
		try {
			Decision decision = ask(charges);
			this.outcomes.tell(charges, decision, start);
			for (int i = 0; decision.allowed() && i < charges.size(); i++) {
				PolicyCharge charge = charges.get(i);
				Decision own = PolicyOutcomes.own(charge, decision);
				Decision.Source source = this.outcomes.source(charge, own);
				if (own.allowed() && source != Decision.Source.NONE) {
					used.accept(charge.countedIn(source));
				}
			}
			return decision;
		}
		catch (StoreException ex) {
			this.outcomes.tell(charges, null, start);
			throw ex;
		}
	}

	private Decision ask(List<PolicyCharge> charges) {
		List<Charge> counted = new ArrayList<>(charges.size());
		List<LimitStatus> impossible = List.of();
		boolean beforeLogin = false;
		for (PolicyCharge charge : charges) {
			counted.add(counted(charge));
			beforeLogin |= charge.beforeLogin();
			if (charge.isProvisional()) {
				this.reservations.note(counted.get(counted.size() - 1).policy());
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
		Decision named = beforeLogin ? BeforeLogin.named(decision, charges) : decision;
		return named.allowed() ? named : this.reservations.withSoon(named, charges);
	}

	private static OnStoreFailure whenStoreFails(Policy policy, List<PolicyCharge> charges, List<Charge> counted) {
		int at = counted.stream().map(Charge::policy).toList().indexOf(policy);
		return charges.get(at).policy().enforcement().whenStoreFails();
	}

	/**
	 * Returns whether a limit denies a charge whatever the store says, because its quota
	 * is 0. A policy that counts denied requests asks the store, which counts by its
	 * other limits.
	 */
	private static boolean isImpossible(PolicyCharge charge) {
		Policy policy = charge.charge().policy();
		for (Limit limit : policy.limits()) {
			if (limit.quota() == 0) {
				return !policy.countDenied() && !PolicyOutcomes.isShadow(charge);
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
