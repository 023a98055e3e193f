package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.waiting.WaitingRateLimiter;
import io.github.ratelimit.lease.BackgroundTimer;
import io.github.ratelimit.lease.LeasedRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OutageRateLimiter;

/**
 * What was counted and is not settled: charges whose true cost is known later, and calls
 * that run. Each is settled where it was counted: in the store, or locally. If the store
 * fails, its counts stay as they are.
 * <p>
 * Safe for use by several threads.
 */
public final class Counted {

	/** Instead of a true cost. */
	public static final long RESET = -1;

	private final OutageRateLimiter limiter;

	/** Refunds, and tells those who wait. */
	private final WaitingRateLimiter waiting;

	private final LeasedRateLimiter leases;

	private final LocalRateLimiter local;

	private final Reservations reservations;

	private final Duration longestCall;

	private final BackgroundTimer timer = new BackgroundTimer("ratelimit-renewal", Duration.ofSeconds(1));

	/** The calls that run on this instance, by the lease time of their policies. */
	private final ConcurrentMap<Duration, RunningCalls> running = new ConcurrentHashMap<>();

	Counted(OutageRateLimiter limiter, WaitingRateLimiter waiting, LeasedRateLimiter leases, LocalRateLimiter local,
			Reservations reservations, Duration longestCall) {
		this.limiter = limiter;
		this.waiting = waiting;
		this.leases = leases;
		this.local = local;
		this.reservations = reservations;
		this.longestCall = longestCall;
	}

	/** Adds a call that runs from now on. */
	void add(PolicyCharge call) {
		running(call).add(call);
	}

	/** Tells what shows that the calls of one request run. */
	void watch(List<PolicyCharge> calls, BooleanSupplier sign) {
		calls.forEach((call) -> running(call).watch(call, sign));
	}

	/** Ends the calls of one request, at once. */
	void end(List<PolicyCharge> calls) {
		if (!calls.isEmpty()) {
			calls.forEach((call) -> running(call).remove(call));
			refundAtOnce(calls);
		}
	}

	/** Throws a {@link StoreException} if the store fails: it is tried again. */
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
				(lease) -> new RunningCalls(lease, this.longestCall, this.timer, System::nanoTime, this::renew,
						(ended) -> end(List.of(ended))));
	}

	/**
	 * Settles a charge: refunds or charges the difference to its true cost.
	 * @param used the charge that was used
	 * @param cost the true cost, 0 or more; or {@link #RESET} to remove all that its
	 * identifiers have used
	 */
	public void settle(PolicyCharge used, long cost) {
		long difference = cost - used.charge().cost();
		try {
			if (cost == RESET) {
				tryReset(used.charge());
			}
			else if (difference < 0) {
				limiter(used).refund(RateLimitRequest.of(used.charge().withCost(-difference)));
			}
			else if (difference > 0) {
				limiter(used).charge(RateLimitRequest.of(used.charge().withCost(difference)));
			}
		}
		finally {
			this.reservations.remove(used);
		}
	}

	/**
	 * Removes the counts of the identifiers of a charge, locally and in the store, with
	 * what this instance holds and remembers of them.
	 * @throws StoreException if the store fails, which keeps its counts
	 */
	public void reset(Charge charge) {
		charge.identifiers().forEach((identifier) -> this.local.reset(charge.policy(), identifier));
		charge.identifiers().forEach((identifier) -> this.limiter.reset(charge.policy(), identifier));
	}

	/** Resets counts; returns false if the store fails. */
	boolean tryReset(Charge charge) {
		try {
			reset(charge);
			return true;
		}
		catch (StoreException ex) {
			this.limiter.noteFailure(RateLimitRequest.of(charge), ex);
			return false;
		}
	}

	/** Refunds the charges of one decision, at once. */
	void refund(List<PolicyCharge> used) {
		try {
			refundAtOnce(used);
		}
		finally {
			used.forEach(this.reservations::remove);
		}
	}

	private void refundAtOnce(List<PolicyCharge> used) {
		used.stream()
			.filter((charge) -> charge.charge().cost() > 0)
			.collect(Collectors.groupingBy((charge) -> Map.entry(limiter(charge), charge.call()),
					Collectors.mapping(PolicyCharge::charge, Collectors.toList())))
			.forEach((where, charges) -> where.getKey().refund(new RateLimitRequest(charges, "", where.getValue())));
	}

	/** Returns the limiter that has counted a charge. */
	private RateLimiter limiter(PolicyCharge used) {
		return (used.source() == Decision.Source.LOCAL) ? this.local : this.waiting;
	}

	/** Renews no calls until {@link #resume()}. */
	void pause() {
		this.running.values().forEach(RunningCalls::pause);
		this.timer.pause();
	}

	void resume() {
		this.running.values().forEach(RunningCalls::resume);
	}

	void close() {
		this.timer.stop();
		this.running.values().forEach(RunningCalls::pause);
	}

}
