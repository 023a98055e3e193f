package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.waiting.WaitingRateLimiter;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.lease.LeasedRateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * Decides requests over the current policies, in one call of the store, and notifies
 * listeners. Policies that may deny are decided together, all or nothing. One in shadow
 * mode is decided separately; if the request is denied, it counts nothing, and listeners
 * are not notified of it.
 * <p>
 * Safe for use by several threads.
 */
public final class Decider implements AutoCloseable {

	/** How long a call is renewed without a sign that it runs, unless configured. */
	static final Duration DEFAULT_LONGEST_CALL = Duration.ofMinutes(10);

	/** About 20 MB, unless policies keep long logs. */
	private static final int MAX_LOCAL_COUNTS = 100_000;

	private final OutageRateLimiter limiter;

	private final LeasedRateLimiter leases;

	private final WaitingRateLimiter waiting;

	private final Time time;

	private final Deciding<RuntimeException> atOnce = this::acquire;

	private final Reservations reservations = new Reservations(Ticker.systemTicker());

	private final Counted counted;

	private final PolicyOutcomes outcomes;

	private final SingletonSupplier<List<PolicySource>> sources;

	/** Creates a decider that remembers no denials, of an instance that is alone. */
	public Decider(RateLimiter store, List<DecisionListener> listeners, Supplier<List<PolicySource>> sources) {
		this(store, listeners, sources, UnaryOperator.identity(), () -> 1, null, DEFAULT_LONGEST_CALL, Time.SYSTEM);
	}

	/**
	 * Creates a decider.
	 * @param store decides, and may fail
	 * @param listeners are notified of every decision, in this order
	 * @param sources supplies what changes the policies, one after another; called once,
	 * with the first decision, because a source may depend on limited beans
	 * @param shown returns an identifier as it may be logged
	 * @param instances how many instances share the quotas while the store fails
	 * @param denials remembers whom the store has denied; {@code null} to call it always
	 * @param longestCall how long a call is renewed without a sign that it runs
	 * @param time how time passes for those who wait
	 */
	public Decider(RateLimiter store, List<DecisionListener> listeners, Supplier<List<PolicySource>> sources,
			UnaryOperator<Identifier> shown, InstanceCount instances, @Nullable DenialCache denials,
			Duration longestCall, Time time) {
		LocalRateLimiter local = new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system(), MAX_LOCAL_COUNTS),
				instances::get);
		this.leases = new LeasedRateLimiter(
				(denials != null) ? denials.cache(store, this.reservations::longestDenial) : store);
		// Each request comes with its rule for when the store fails: whenStoreFails.
		this.limiter = new OutageRateLimiter(this.leases, (policy) -> OnStoreFailure.DENY, local,
				(ex) -> RedisErrorKind.of(ex).isUnanswered());
		this.waiting = new WaitingRateLimiter(this.limiter, time);
		this.time = time;
		this.counted = new Counted(this.limiter, this.waiting, this.leases, local, this.reservations, longestCall);
		this.outcomes = new PolicyOutcomes(listeners, shown, this.limiter);
		this.sources = SingletonSupplier.of(() -> sources.get()
			.stream()
			.map((source) -> CheckedPolicySource.of(source, store::requireSupported))
			.toList());
	}

	/** Returns the current form of a policy, for an unknown caller. */
	public IdentifiedPolicy current(IdentifiedPolicy configured) {
		return current(configured, Caller.UNKNOWN);
	}

	/**
	 * Returns the same use of the current form of its policy. Call it for each request,
	 * before its identifiers and plan are found.
	 * @param caller finds identifiers, except the expressions, whose values the use has
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
	 * Decides a request for the plan of each charge, and over the concurrent calls of
	 * their policies. Charges that cost nothing are allowed without the store.
	 * @param requested a charge for each {@linkplain #current(PolicyUse, Caller) current}
	 * policy, without duplicates; may be empty
	 * @throws StoreException if the store failed, and one of the policies denies requests
	 * then
	 */
	public Decided decide(List<PolicyCharge> requested) {
		return decide(requested, false, this.atOnce);
	}

	/**
	 * Decides a request as {@link #decide(List)}, as soon as it is allowed.
	 * @param atMost how long to wait at most
	 */
	public Decided acquire(List<PolicyCharge> requested, Duration atMost) throws InterruptedException {
		return (atMost.compareTo(Duration.ZERO) > 0)
				? decide(requested, false, (charges, call) -> await(charges, call, atMost)) : decide(requested);
	}

	/**
	 * Decides a request as {@link #decide(List)}, whose response is known later: what it
	 * uses must be {@linkplain #counted() settled} then.
	 */
	public Decided decideProvisionally(List<PolicyCharge> requested) {
		return decide(requested, true, this.atOnce);
	}

	private <X extends Exception> Decided decide(List<PolicyCharge> requested, boolean provisionally,
			Deciding<X> deciding) throws X {
		List<PolicyCharge> charges = new ArrayList<>(requested.size());
		List<PolicyCharge> used = new ArrayList<>(requested.size());
		for (PolicyCharge each : requested) {
			PolicyCharge charge = each.inForce().orElse(null);
			if (charge != null) {
				((charge.charge().cost() > 0) ? charges : used).add(charge);
			}
		}
		if (charges.isEmpty()) {
			return new Decided(Decided.UNLIMITED.decision(), List.of(), used, List.of(), this.counted);
		}
		long call = ConcurrentLimit.newCall(charges);
		List<PolicyCharge> asked = ConcurrentLimit.with(charges, call);
		List<PolicyCharge> calls = (call != 0) ? new ArrayList<>(1) : List.of();
		Decision decision = deciding.decide(asked, call);
		for (int i = 0; decision.allowed() && i < asked.size(); i++) {
			PolicyCharge counted = this.outcomes.counted(asked.get(i), decision);
			if (counted == null) {
				continue;
			}
			((counted.call() != 0) ? calls : used).add(counted);
			if (counted.call() != 0) {
				this.counted.add(counted);
			}
			else if (provisionally && counted.isProvisional()) {
				this.reservations.add(counted);
			}
		}
		return new Decided(decision, asked, used, calls, this.counted);
	}

	private Decision acquire(List<PolicyCharge> charges, long call) {
		long start = System.nanoTime();
		Decision decision;
		try {
			decision = ask(charges, call, this.limiter::tryAcquire);
		}
		catch (StoreException ex) {
			this.outcomes.notify(charges, null, start);
			throw ex;
		}
		this.outcomes.notify(charges, decision, start);
		return decision;
	}

	/**
	 * Notifies listeners of the last attempt only, with its own time, and of the wait.
	 */
	private Decision await(List<PolicyCharge> charges, long call, Duration atMost) throws InterruptedException {
		long[] start = { System.nanoTime() };
		long began = this.time.nanoTime();
		Decision decision;
		try {
			decision = this.waiting.acquire(request(charges, call), atMost, () -> {
				start[0] = System.nanoTime();
				return ask(charges, call, this.limiter::tryAcquire);
			});
		}
		catch (StoreException ex) {
			this.outcomes.notify(charges, null, start[0]);
			this.outcomes.waited(charges, WaitListener.End.FAILED, this.time.nanoTime() - began);
			throw ex;
		}
		catch (InterruptedException ex) {
			this.outcomes.waited(charges, WaitListener.End.INTERRUPTED, this.time.nanoTime() - began);
			throw ex;
		}
		this.outcomes.notify(charges, decision, start[0]);
		this.outcomes.waited(charges, decision.allowed() ? WaitListener.End.ALLOWED : WaitListener.End.DENIED,
				this.time.nanoTime() - began);
		return decision;
	}

	/** Notifies listeners of a wait elsewhere. */
	public void waited(String policy, WaitListener.End end, Duration time) {
		this.outcomes.waited(policy, end, time);
	}

	/**
	 * Returns what {@link #decide(List)} would decide now, also for charges that cost
	 * nothing. Nothing is used, and no listener is notified.
	 */
	public Decision peek(List<PolicyCharge> requested) {
		List<PolicyCharge> charges = requested.stream().map(PolicyCharge::inForce).flatMap(Optional::stream).toList();
		long call = ConcurrentLimit.newCall(charges);
		return charges.isEmpty() ? Decided.UNLIMITED.decision()
				: ask(ConcurrentLimit.with(charges, call), call, this.limiter::peek);
	}

	private Decision ask(List<PolicyCharge> charges, long call,
			BiFunction<RateLimitRequest, Function<Policy, OnStoreFailure>, Decision> operation) {
		List<LimitStatus> impossible = List.of();
		for (PolicyCharge charge : charges) {
			if (charge.isProvisional()) {
				this.reservations.register(charge.charge().policy());
			}
			List<LimitStatus> own = charge.impossible();
			impossible = own.isEmpty() ? impossible : Stream.concat(impossible.stream(), own.stream()).toList();
		}
		if (!impossible.isEmpty()) {
			return new Decision(false, impossible, null, Decision.Source.DENIAL_CACHE);
		}
		Decision decision = operation.apply(request(charges, call), (policy) -> whenStoreFails(policy, charges));
		return decision.allowed() ? decision : this.reservations.withEarlierRetry(decision, charges);
	}

	private static RateLimitRequest request(List<PolicyCharge> charges, long call) {
		List<Charge> asked = new ArrayList<>(charges.size());
		for (int i = 0; i < charges.size(); i++) {
			PolicyCharge charge = charges.get(i);
			asked.add(charge.isShadow() ? charge.charge().inShadow() : charge.charge());
		}
		return new RateLimitRequest(asked, "", call);
	}

	private static OnStoreFailure whenStoreFails(Policy policy, List<PolicyCharge> charges) {
		return charges.stream()
			.filter((charge) -> charge.charge().policy().equals(policy))
			.map((charge) -> charge.policy().enforcement().whenStoreFails())
			.findFirst()
			.orElseThrow();
	}

	/** Rejects a policy that the store does not support. */
	public void requireSupported(Policy policy) {
		this.limiter.requireSupported(policy);
	}

	/**
	 * Returns the rate limiter that knows whether the store fails. Code that calls the
	 * store in another way reports failures to it.
	 */
	public OutageRateLimiter outage() {
		return this.limiter;
	}

	/**
	 * Returns the rate limiter that takes parts of quotas in advance. Code that blocks
	 * identifiers in another way tells it.
	 */
	public LeasedRateLimiter leases() {
		return this.leases;
	}

	/** Returns what was counted and is not settled. */
	public Counted counted() {
		return this.counted;
	}

	/**
	 * Gives back what was taken in advance, ends all threads, and renews no calls until
	 * {@link #resume()}. Later requests are decided as before.
	 */
	public void pause() {
		this.counted.pause();
		this.leases.pause();
	}

	/** Renews the calls that still run. */
	public void resume() {
		this.counted.resume();
	}

	/**
	 * Gives back what was taken in advance, and renews no calls. Must be called while the
	 * store still works.
	 */
	@Override
	public void close() {
		this.counted.close();
		this.leases.close();
	}

	/** How a request is decided. */
	private interface Deciding<X extends Exception> {

		Decision decide(List<PolicyCharge> charges, long call) throws X;

	}

	/** A source of policies that were checked when they were read. */
	public interface ReadSource extends PolicySource {

	}

}
