package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
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
 * nothing, because it then only reads, as a full or read-only Redis still does.
 * <p>
 * While it fails, a thread in the background looks every second whether it can be written
 * to, by a charge to a policy of its own that is reset at once: an application without
 * requests learns as well that limits are enforced again. Close it to stop looking.
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

	private final RateLimiter store;

	private final Function<Policy, OnStoreFailure> onStoreFailure;

	private final LocalRateLimiter local;

	private final InstantSource clock;

	private final Executor later;

	private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();

	private volatile boolean closed;

	/**
	 * Creates a rate limiter.
	 * @param store the store that may fail
	 * @param onStoreFailure what becomes of the requests of a policy while it does
	 * @param local limits the requests of those policies that want it
	 */
	public OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure,
			LocalRateLimiter local) {
		this(store, onStoreFailure, local, InstantSource.system(), CompletableFuture.delayedExecutor(PAUSE.toMillis(),
				TimeUnit.MILLISECONDS, BreakerRateLimiter::startThread));
	}

	/**
	 * Creates a rate limiter.
	 * @param later runs probes when it is time for them
	 */
	OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure, LocalRateLimiter local,
			InstantSource clock, Executor later) {
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
		return Optional.ofNullable(this.failure.get()).map(Failure::since);
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
				answered(this.failure.get());
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

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	/** Stops looking whether the store answers. */
	@Override
	public void close() {
		this.closed = true;
	}

	private void answered(@Nullable Failure failure) {
		if (failure != null && this.failure.compareAndSet(failure, null)) {
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

	private void failed(StoreException ex, RateLimitRequest request) {
		if (this.failure.get() != null) {
			return;
		}
		Failure failure = new Failure(this.clock.instant(), probe(request.charges().get(0)));
		if (this.failure.compareAndSet(null, failure)) {
			this.later.execute(() -> probe(failure));
			logger.warn("The store failed: limits are not enforced until it answers. {}: {}", ex.getMessage(),
					rootCause(ex).toString());
			logger.debug("The store failed", ex);
		}
	}

	/** What is written where the charge would have been, and in the same way. */
	private static Charge probe(Charge failed) {
		Policy policy = failed.policy();
		return Charge.of(new Policy("ratelimit-probe", policy.algorithm(), policy.limits(), false),
				failed.identifiers().get(0));
	}

	/** A failure that is over has no probes; the next one has its own. */
	private void probe(Failure failure) {
		if (this.closed || this.failure.get() != failure) {
			return;
		}
		try {
			this.store.charge(RateLimitRequest.of(failure.probe()));
			answered(failure);
			this.store.reset(failure.probe().policy(), failure.probe().identifiers().get(0));
		}
		catch (RuntimeException ex) {
			logger.debug("A probe of the store failed", ex);
		}
		finally {
			// Whatever was thrown: without a next probe the store would seem to fail on.
			if (this.failure.get() == failure) {
				this.later.execute(() -> probe(failure));
			}
		}
	}

	private static Throwable rootCause(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

	private record Failure(Instant since, Charge probe) {

	}

}
