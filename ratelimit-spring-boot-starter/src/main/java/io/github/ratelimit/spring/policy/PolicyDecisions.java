package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
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
import io.github.ratelimit.lease.LeasedRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.IdentifiedPolicy;
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
public final class PolicyDecisions implements AutoCloseable {

	private static final Decision NOTHING_TO_DENY = new Decision(true, List.of());

	/** Calls the store, through the denial cache if there is one. */
	private final OutageRateLimiter limiter;

	private final LeasedRateLimiter leases;

	private final LocalRateLimiter local;

	private final Reservations reservations = new Reservations(Ticker.systemTicker());

	/** The calls that run on this instance, by the lease time of their policies. */
	private final ConcurrentMap<Duration, RunningCalls> running = new ConcurrentHashMap<>();

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
		this.leases = new LeasedRateLimiter((denials != null) ? denials.cache(store, this::longestDenial) : store);
		// Each request has its own rule for when the store fails.
		this.limiter = new OutageRateLimiter(this.leases, (policy) -> OnStoreFailure.DENY, this.local,
				outages.isOutage());
		this.outcomes = listeners.isEmpty() ? null : new PolicyOutcomes(listeners, this::source);
		this.sources = SingletonSupplier.of(() -> sources.get()
			.stream()
			.map((source) -> CheckedPolicySource.of(source, store::requireSupported))
			.toList());
	}

	/** Other instances give back what they do not use of a lease. */
	private Duration longestDenial(Policy policy) {
		Duration longest = this.reservations.longestDenial(policy);
		Duration lease = policy.lease();
		return (lease != null && lease.compareTo(longest) < 0) ? lease : longest;
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
	 * policies, for the plan of each charge, and over their concurrent calls. The store
	 * is not called for charges that cost nothing, which are always allowed. Among
	 * concurrent calls, the request counts until its lease ends.
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
	 * {@linkplain #settle settled} or {@linkplain #refund refunded} later, or
	 * {@linkplain #end ended} if it has a {@linkplain PolicyCharge#call() call}
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

	/**
	 * Decides a call of a method as {@link #decide(List)}.
	 * @param requested a charge for each policy, without duplicates; may be empty
	 * @param atEnd receives what must run when the method has ended, if anything
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision decideMethod(List<PolicyCharge> requested, Consumer<Runnable> atEnd) {
		return decideMethod(atEnd, (used) -> decideAll(requested, used), (charge) -> {
		});
	}

	/**
	 * Decides a call of a method, and lets it be settled later with its request.
	 * @param requested a charge for each policy, without duplicates; may be empty
	 * @param used as for {@link #decide(List, Consumer)}, but receives no calls
	 * @param atEnd receives what must run when the method has ended, if anything
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision decideMethod(List<PolicyCharge> requested, Consumer<PolicyCharge> used, Consumer<Runnable> atEnd) {
		return decideMethod(atEnd, (all) -> decide(requested, all), used);
	}

	private Decision decideMethod(Consumer<Runnable> atEnd, Function<Consumer<PolicyCharge>, Decision> decide,
			Consumer<PolicyCharge> used) {
		List<PolicyCharge> calls = new ArrayList<>(0);
		Decision decision = decide.apply((charge) -> {
			if (charge.call() != 0) {
				calls.add(charge);
			}
			else {
				used.accept(charge);
			}
		});
		if (!calls.isEmpty()) {
			atEnd.accept(() -> end(calls));
		}
		return decision;
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
		long call = limitCalls(charges) ? newCall() : 0;
		return charges.isEmpty() ? NOTHING_TO_DENY : acquire(withCalls(charges, call), call, used);
	}

	/**
	 * Returns the policies that may deny a request, in the order in which
	 * {@link #decide(List)} checks them. A denial from memory has only the statuses of
	 * limits that are known to deny.
	 * @param requested the charges of the request
	 * @return the policies, for the plan of each charge, and those of concurrent calls
	 */
	public static List<Policy> checked(List<PolicyCharge> requested) {
		List<PolicyCharge> charges = requested.stream()
			.map(PolicyCharge::ofPlan)
			.flatMap(Optional::stream)
			.filter((charge) -> charge.charge().cost() > 0)
			.toList();
		return withCalls(charges, limitCalls(charges) ? 1 : 0).stream()
			.filter((charge) -> !charge.isShadow())
			.map((charge) -> charge.charge().policy())
			.toList();
	}

	private static boolean limitCalls(List<PolicyCharge> charges) {
		for (int i = 0; i < charges.size(); i++) {
			if (limitsCalls(charges.get(i))) {
				return true;
			}
		}
		return false;
	}

	private static boolean limitsCalls(PolicyCharge charge) {
		return charge.limitsOnlyCalls() || charge.policy().concurrent() != null;
	}

	/**
	 * Adds charges for the concurrent calls that policies limit. All these policies know
	 * the request by the same number.
	 * @param call the number; 0 if no policy limits calls
	 */
	private static List<PolicyCharge> withCalls(List<PolicyCharge> charges, long call) {
		if (call == 0) {
			return charges;
		}
		List<PolicyCharge> all = new ArrayList<>(charges);
		all.removeIf(PolicyCharge::limitsOnlyCalls);
		charges.stream()
			.filter(PolicyDecisions::limitsCalls)
			.flatMap((charge) -> charge.ofCall(call).stream())
			.forEach(all::add);
		return all;
	}

	private static long newCall() {
		return ThreadLocalRandom.current().nextLong(1, RateLimitRequest.MAX_CALL + 1);
	}

	/**
	 * Ends the calls of one request, at once, where they were counted. If the store
	 * fails, they count until their leases end.
	 * @param calls the charges of calls that were used; may be empty
	 */
	public void end(List<PolicyCharge> calls) {
		for (PolicyCharge call : calls) {
			running(call).remove(call);
		}
		calls.stream()
			.collect(Collectors.groupingBy((call) -> Map.entry(limiter(call), call.call()),
					Collectors.mapping(PolicyCharge::charge, Collectors.toList())))
			.forEach((where, charges) -> where.getKey()
				.refund(new RateLimitRequest(charges).withCall(where.getValue())));
	}

	/** Throws a {@link StoreException} if the store fails, so that it is tried again. */
	void renew(PolicyCharge call) {
		RateLimitRequest request = RateLimitRequest.of(call.charge()).withCall(call.call());
		if (call.source() == Decision.Source.LOCAL) {
			this.local.charge(request);
			return;
		}
		try {
			this.leases.charge(request);
		}
		catch (StoreException ex) {
			this.limiter.noteFailure(request, ex);
			throw ex;
		}
	}

	private RunningCalls running(PolicyCharge call) {
		return this.running.computeIfAbsent(call.charge().policy().limits().get(0).window(),
				(lease) -> new RunningCalls(lease, this::renew, (ended) -> end(List.of(ended))));
	}

	/**
	 * Returns the decision that {@link #decide(List)} would make now. Nothing is used,
	 * and no listener is notified. Charges that cost nothing are checked as well.
	 * @param requested a charge for each policy, without duplicates; may be empty
	 * @return allowed or denied, with the status of every limit that may deny
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decision peek(List<PolicyCharge> requested) {
		List<PolicyCharge> charges = requested.stream().map(PolicyCharge::ofPlan).flatMap(Optional::stream).toList();
		long call = limitCalls(charges) ? newCall() : 0;
		return charges.isEmpty() ? NOTHING_TO_DENY : ask(withCalls(charges, call), call, this.limiter::peek);
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

	/**
	 * Returns the rate limiter that takes parts of quotas in advance. Code that blocks
	 * identifiers or resets counts in another way tells it.
	 * @return the rate limiter behind {@link #outage()}
	 */
	public LeasedRateLimiter leases() {
		return this.leases;
	}

	/**
	 * Gives back what was taken in advance, and renews no calls. Must be called while the
	 * store still works.
	 */
	@Override
	public void close() {
		this.running.values().forEach(RunningCalls::close);
		this.leases.close();
	}

	/** Returns the charge that the store counts. */
	private static Charge counted(PolicyCharge charge) {
		Charge counted = charge.beforeLogin() ? BeforeLogin.counted(charge) : charge.charge();
		return charge.isShadow() ? counted.inShadow() : counted;
	}

	private Decision acquire(List<PolicyCharge> charges, long call, Consumer<PolicyCharge> used) {
		long start = System.nanoTime();
		Decision decision;
		try {
			decision = ask(charges, call, this.limiter::tryAcquire);
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
				use(charge.countedIn((source == Decision.Source.LEASE) ? Decision.Source.STORE : source), used);
			}
		}
		return decision;
	}

	/** A call is renewed for as long as the receiver refers to it. */
	private void use(PolicyCharge charge, Consumer<PolicyCharge> used) {
		if (charge.call() != 0) {
			running(charge).add(charge);
		}
		used.accept(charge);
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

	private Decision ask(List<PolicyCharge> charges, long call,
			BiFunction<RateLimitRequest, Function<Policy, OnStoreFailure>, Decision> operation) {
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
		Decision decision = operation.apply(new RateLimitRequest(counted, "", call),
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
