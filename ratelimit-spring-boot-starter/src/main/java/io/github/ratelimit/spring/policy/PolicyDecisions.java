package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
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
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.OutageHandling;
import io.github.ratelimit.spring.Outcome;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicySource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

	private static final Logger logger = LoggerFactory.getLogger(PolicyDecisions.class);

	private static final Decision NOTHING_TO_DENY = new Decision(true, List.of());

	/** The store, behind the denial cache if there is one. */
	private final OutageRateLimiter limiter;

	private final LocalRateLimiter local;

	private final Reservations reservations = new Reservations();

	private final List<DecisionListener> listeners;

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
		this.listeners = List.copyOf(listeners);
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
			this.reservations.hold(charge);
			used.accept(charge);
		});
	}

	private Decision decideAll(List<PolicyCharge> requested, Consumer<PolicyCharge> used) {
		List<PolicyCharge> ofPlans = requested.stream().map(PolicyCharge::ofPlan).flatMap(Optional::stream).toList();
		ofPlans.stream().filter((charge) -> charge.charge().cost() == 0).forEach(used);
		List<PolicyCharge> charges = ofPlans.stream().filter((charge) -> charge.charge().cost() > 0).toList();
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
	 * Returns since when the store fails, as far as decisions have shown.
	 * @return the time of the first failure of the present outage; empty if limits are
	 * enforced
	 */
	public Optional<Instant> failingSince() {
		return this.limiter.failingSince();
	}

	/**
	 * Notes that the store has failed somebody who has asked it without these decisions:
	 * limits are not enforced from then on, until it answers.
	 * @param request what it was asked
	 * @param failure why it failed
	 */
	public void noteFailure(RateLimitRequest request, StoreException failure) {
		this.limiter.noteFailure(request, failure);
	}

	/**
	 * Returns why the last request failed, while the store fails.
	 * @return the failure; empty if limits are enforced
	 */
	public Optional<StoreException> lastFailure() {
		return this.limiter.lastFailure();
	}

	/**
	 * Returns whether the store does not answer, as far as decisions have shown.
	 * @return whether it did not answer when it failed last, and limits are not enforced
	 */
	public boolean isUnanswered() {
		return this.limiter.isUnanswered();
	}

	/**
	 * Notes that the store has allowed somebody who has asked it without these decisions:
	 * if it has failed nobody for ten seconds, limits are enforced again.
	 * @param request what it was asked
	 */
	public void noteAllowed(RateLimitRequest request) {
		this.limiter.noteAllowed(request);
	}

	/**
	 * Notes that the store answers again, which ends an outage in which it did not.
	 */
	public void storeAnswers() {
		this.limiter.storeAnswers();
	}

	/**
	 * Returns how often the store was too busy to do in time what it was asked. Such
	 * requests are limited in memory.
	 * @return the number since the start
	 */
	public long busyCount() {
		return this.limiter.busyCount();
	}

	private static boolean isShadow(PolicyCharge charge) {
		return charge.policy().enforcement().mode() == Mode.SHADOW;
	}

	/** What the store counts. */
	private static Charge counted(PolicyCharge charge) {
		Charge counted = BeforeLogin.counted(charge);
		return isShadow(charge) ? counted.inShadow() : counted;
	}

	/** What the policy has come to. */
	private static Decision own(PolicyCharge charge, Decision decision) {
		return isShadow(charge) ? decision.shadow(charge.charge()) : decision;
	}

	private Decision acquire(List<PolicyCharge> charges, Consumer<PolicyCharge> used) {
		long start = System.nanoTime();
		try {
			List<Charge> counted = charges.stream().map(PolicyDecisions::counted).toList();
			this.reservations.note(charges, counted);
			List<LimitStatus> impossible = charges.stream().flatMap(PolicyDecisions::impossible).toList();
			Decision decision = impossible.isEmpty() ? ask(charges, counted)
					: new Decision(false, impossible, null, Decision.Source.DENIAL_CACHE);
			tell(charges, decision, start);
			if (decision.allowed()) {
				charges.stream()
					.filter((charge) -> own(charge, decision).allowed())
					.map((charge) -> charge.countedIn(source(charge, own(charge, decision))))
					.filter((charge) -> charge.source() != Decision.Source.NONE)
					.forEach(used);
			}
			return decision;
		}
		catch (StoreException ex) {
			tell(charges, null, start);
			throw ex;
		}
	}

	private Decision ask(List<PolicyCharge> charges, List<Charge> counted) {
		Decision decision = this.limiter.tryAcquire(new RateLimitRequest(counted),
				(policy) -> whenStoreFails(policy, charges, counted));
		return this.reservations.withSoon(BeforeLogin.named(decision, charges), charges);
	}

	private static OnStoreFailure whenStoreFails(Policy policy, List<PolicyCharge> charges, List<Charge> counted) {
		int at = counted.stream().map(Charge::policy).toList().indexOf(policy);
		return charges.get(at).policy().enforcement().whenStoreFails();
	}

	/**
	 * The limits that deny a charge whatever the store says, because their quota is 0. A
	 * policy that counts denied requests asks the store, which counts by its other
	 * limits.
	 */
	private static Stream<LimitStatus> impossible(PolicyCharge requested) {
		Charge charge = requested.charge();
		Policy policy = charge.policy();
		if (charge.cost() == 0 || policy.countDenied() || isShadow(requested)) {
			return Stream.empty();
		}
		return policy.limits()
			.stream()
			.filter((limit) -> limit.quota() == 0)
			.flatMap((limit) -> charge.identifiers()
				.stream()
				.map((identifier) -> LimitStatus.ofMicros(policy, identifier, limit, 0, 0, -1, true)));
	}

	private void tell(List<PolicyCharge> charges, @Nullable Decision decision, long start) {
		if (this.listeners.isEmpty()) {
			return;
		}
		Duration time = Duration.ofNanos(System.nanoTime() - start);
		for (PolicyCharge charge : charges) {
			if (!isShadow(charge) || (decision != null && decision.allowed())) {
				Decision own = (decision != null) ? own(charge, decision) : null;
				List<LimitStatus> violated = violated(charge, own);
				PolicyDecision event = new PolicyDecision(charge, outcome(charge, own, violated), source(charge, own),
						time, violated);
				this.listeners.forEach((listener) -> tell(listener, event));
			}
		}
	}

	private static void tell(DecisionListener listener, PolicyDecision decision) {
		try {
			listener.decided(decision);
		}
		catch (RuntimeException ex) {
			logger.debug("A listener of decisions failed", ex);
		}
	}

	/**
	 * During an outage, policies that are not limited locally are allowed if those that
	 * are allow it. A store that is only busy leaves none of them unlimited.
	 */
	private Decision.Source source(PolicyCharge charge, @Nullable Decision decision) {
		if (decision == null) {
			return Decision.Source.NONE;
		}
		boolean unlimited = decision.source() == Decision.Source.LOCAL && decision.allowed()
				&& this.limiter.failingSince().isPresent()
				&& charge.policy().enforcement().whenStoreFails() != OnStoreFailure.LOCAL;
		return unlimited ? Decision.Source.NONE : decision.source();
	}

	private static List<LimitStatus> violated(PolicyCharge charge, @Nullable Decision decision) {
		if (decision == null || decision.allowed()) {
			return List.of();
		}
		Policy policy = charge.charge().policy();
		return decision.violated().stream().filter((status) -> status.policy().equals(policy)).toList();
	}

	private Outcome outcome(PolicyCharge charge, @Nullable Decision decision, List<LimitStatus> violated) {
		if (decision == null) {
			return Outcome.STORE_FAILED_DENIED;
		}
		if (decision.allowed()) {
			return (source(charge, decision) == Decision.Source.NONE) ? Outcome.STORE_FAILED_ALLOWED : Outcome.ALLOWED;
		}
		if (isShadow(charge)) {
			return Outcome.SHADOW_DENIED;
		}
		if (decision.blockedFor() != null) {
			return Outcome.BLOCKED;
		}
		return violated.isEmpty() ? Outcome.DENIED_BY_OTHER : Outcome.DENIED;
	}

}
