package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers while the store fails, as each policy wants it, and says so in the log: once
 * when it fails and once when it allows a request again. That it denies one proves
 * nothing, because it then only reads, as a full or read-only Redis still does. That it
 * allows a request of other policies or identifiers than those that failed last proves
 * nothing either, unless nothing has failed for ten seconds: it may fail for some of them
 * only, as a cluster does of which one node has failed. An interrupt of the thread is no
 * failure of the store.
 * <p>
 * While it fails, a thread in the background looks every second whether it can be written
 * to, by a charge to a policy of its own that is reset at once: an application without
 * requests learns as well that limits are enforced again. The name of that policy,
 * {@code ratelimit-probe}, must not be that of another. Close it to stop looking.
 * <p>
 * If all policies of a request allow it without the store, so does the decision, which
 * has no statuses because the numbers are not known. If one of them denies it, the
 * {@link StoreException} is passed on. So is that of a reset, because whoever asks for it
 * must know. If policies limit it {@linkplain OnStoreFailure#LOCAL locally}, and none
 * denies it, the {@link LocalRateLimiter} decides over these, all or nothing.
 * <p>
 * What was used locally is not charged to the store when it answers again, whose counts
 * go on as they were: in a window around that moment, a quota may be used twice. The
 * local counts are kept, so that a store that fails again soon does not grant it once
 * more.
 *
 * @since 0.1
 */
public final class OutageRateLimiter implements RateLimiter, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(OutageRateLimiter.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private static final Duration LONG_AGO = Duration.ofSeconds(10);

	private final RateLimiter store;

	private final Function<Policy, OnStoreFailure> onStoreFailure;

	private final LocalRateLimiter local;

	private final InstantSource clock;

	private final Later later;

	private final AtomicReference<@Nullable Outage> outage = new AtomicReference<>();

	private volatile boolean closed;

	/**
	 * Creates a rate limiter.
	 * @param store the store that may fail
	 * @param onStoreFailure what becomes of the requests of a policy while it does
	 * @param local limits the requests of those policies that want it
	 */
	public OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure,
			LocalRateLimiter local) {
		this(store, onStoreFailure, local, InstantSource.system(), new ProbeThread(PAUSE));
	}

	/**
	 * Creates a rate limiter.
	 * @param later runs probes when it is time for them
	 */
	OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure, LocalRateLimiter local,
			InstantSource clock, Later later) {
		this.store = store;
		this.onStoreFailure = onStoreFailure;
		this.local = local;
		this.clock = clock;
		this.later = later;
	}

	/**
	 * Returns since when the store fails, as far as requests have shown: the time of the
	 * first failure after which it has neither allowed a request nor answered a probe.
	 * @return the time, by the clock of this process; empty if limits are enforced
	 */
	public Optional<Instant> failingSince() {
		return Optional.ofNullable(this.outage.get()).map(Outage::since);
	}

	/**
	 * Returns why the last request failed, while the store fails.
	 * @return the failure; empty if limits are enforced
	 */
	public Optional<StoreException> lastFailure() {
		return Optional.ofNullable(this.outage.get()).map(Outage::failure);
	}

	/**
	 * Decides a request.
	 * @throws StoreException if the store failed, and a policy of the request denies
	 * requests without it
	 */
	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		try {
			Decision decision = this.store.tryAcquire(request);
			// A request that costs nothing is only read, which a store can do that is
			// full.
			if (decision.allowed() && request.charges().stream().anyMatch((charge) -> charge.cost() > 0)) {
				answered(request);
			}
			return decision;
		}
		catch (StoreException ex) {
			return withoutStore(request, ex, this.local::tryAcquire);
		}
	}

	/**
	 * Looks at a request.
	 * @throws StoreException if the store failed, and a policy of the request denies
	 * requests without it
	 */
	@Override
	public Decision peek(RateLimitRequest request) {
		try {
			return this.store.peek(request);
		}
		catch (StoreException ex) {
			return withoutStore(request, ex, this.local::peek);
		}
	}

	/**
	 * Gives back the cost of a request that the store has allowed, as far as it answers.
	 */
	@Override
	public void refund(RateLimitRequest request) {
		try {
			this.store.refund(request);
		}
		catch (StoreException ex) {
			failed(ex, request);
		}
	}

	/**
	 * Uses the cost of a request, as far as the store answers.
	 */
	@Override
	public void charge(RateLimitRequest request) {
		try {
			this.store.charge(request);
		}
		catch (StoreException ex) {
			failed(ex, request);
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.store.reset(policy, identifier);
	}

	/**
	 * Refuses the name of the policy that tells whether the store answers, whose counts
	 * are reset.
	 * @param name the name of another policy
	 * @throws IllegalArgumentException if it is {@code ratelimit-probe}
	 */
	public static void requireOtherName(String name) {
		if (name.equals(Outage.PROBE)) {
			throw new IllegalArgumentException(
					"Invalid policy name (%s): must be another, because the library counts by it whether the store answers."
						.formatted(name));
		}
	}

	@Override
	public void requireSupported(Policy policy) {
		requireOtherName(policy.name());
		this.store.requireSupported(policy);
	}

	/** Stops looking whether the store answers, and the thread that does. */
	@Override
	public void close() {
		this.closed = true;
		this.later.close();
	}

	private void answered(RateLimitRequest request) {
		Outage present = this.outage.get();
		if (present != null && (present.isProvedOverBy(request) || isQuiet(present, LONG_AGO))) {
			end(present);
		}
	}

	/** Whether nothing has failed for so long. */
	private boolean isQuiet(Outage outage, Duration quiet) {
		return !this.clock.instant().isBefore(outage.latest().plus(quiet));
	}

	private void end(Outage present) {
		if (this.outage.compareAndSet(present, null)) {
			logger.info("The store answers again: limits are enforced");
		}
	}

	private Decision withoutStore(RateLimitRequest request, StoreException ex,
			Function<RateLimitRequest, Decision> decideLocally) {
		failed(ex, request);
		List<Charge> charges = new ArrayList<>();
		for (Charge charge : request.charges()) {
			switch (this.onStoreFailure.apply(charge.policy())) {
				case DENY -> throw ex;
				case LOCAL -> charges.add(charge);
				case ALLOW -> {
				}
			}
		}
		return charges.isEmpty() ? Decision.withoutStore()
				: decideLocally.apply(new RateLimitRequest(charges, request.metadata()));
	}

	/**
	 * Notes that the store has failed somebody who has asked it without this: it fails
	 * from then on, until it answers.
	 * @param request what it was asked
	 * @param failure why it failed; an interrupt is no failure of the store
	 */
	public void noteFailure(RateLimitRequest request, StoreException failure) {
		failed(failure, request);
	}

	private void failed(StoreException ex, RateLimitRequest request) {
		if (ex.isInterrupt()) {
			return;
		}
		Instant now = this.clock.instant();
		Outage begun = new Outage(now, request, ex);
		Outage present = this.outage.compareAndExchange(null, begun);
		if (present != null) {
			present.goesOn(now, request, ex);
			return;
		}
		this.later.execute(() -> probe(begun));
		logger.warn("The store failed: until it answers, each policy does as its on-store-failure says. {}: {}",
				ex.getMessage(), ex.reason());
		logger.debug("The store failed", ex);
	}

	/** An outage that is over has no probes; the next one has its own. */
	private void probe(Outage probed) {
		if (this.closed || this.outage.get() != probed) {
			return;
		}
		try {
			Charge probe = probed.probe();
			this.store.charge(RateLimitRequest.of(probe));
			// Requests may fail whose policies are not those of the probe.
			if (isQuiet(probed, PAUSE)) {
				end(probed);
			}
			probe.identifiers().forEach((identifier) -> this.store.reset(probe.policy(), identifier));
		}
		catch (RuntimeException ex) {
			logger.debug("A probe of the store failed", ex);
		}
		finally {
			// Whatever was thrown: without a next probe the store would seem to fail on.
			if (this.outage.get() == probed) {
				this.later.execute(() -> probe(probed));
			}
		}
	}

}
