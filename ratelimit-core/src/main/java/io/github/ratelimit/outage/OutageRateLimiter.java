package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreBusyException;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides requests according to their policies while the store fails. Logs once when the
 * store fails and once when it works again.
 * <p>
 * An outage begins with a {@link StoreException}. It ends when the store allows a
 * request; a denied one proves nothing, because a full or read-only Redis can be read.
 * For ten seconds after a failure, the allowed request must have the policies and
 * identifiers of the one that failed last, because a cluster with one failed node fails
 * for some of them only. If the store did not answer, the outage also ends when
 * {@link #storeAnswers()} is called.
 * <p>
 * During an outage, the {@link StoreException} is thrown if one of the policies of a
 * request {@linkplain OnStoreFailure#DENY denies} it. Otherwise the
 * {@link LocalRateLimiter} decides over the policies that are
 * {@linkplain OnStoreFailure#LOCAL local}, all or nothing, and without them the request
 * is allowed without statuses. Charges in shadow mode deny nothing; unless their policy
 * is local, they are not decided. A reset always throws the exceptions of the store.
 * <p>
 * A {@link StoreBusyException} does not begin an outage: the {@link LocalRateLimiter}
 * then decides over all policies of the request, unless an enforced policy denies it. So
 * neither load nor a short silence of the store switches limits off. Local counts are
 * kept, but not charged to the store later: around an outage, a quota may be used twice
 * within a window. Safe for use by several threads.
 */
public final class OutageRateLimiter extends DelegatingRateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(OutageRateLimiter.class);

	/** After so long without a late decision the next one is logged again. */
	private static final long QUIET = Duration.ofMinutes(1).toMillis();

	private final Function<Policy, OnStoreFailure> onStoreFailure;

	private final LocalRateLimiter local;

	private final Predicate<StoreException> isUnanswered;

	private final InstantSource clock;

	private final AtomicReference<@Nullable Outage> outage = new AtomicReference<>();

	private final LongAdder busy = new LongAdder();

	/** In milliseconds. */
	private final AtomicLong lastBusy = new AtomicLong(Long.MIN_VALUE);

	/**
	 * Creates a rate limiter.
	 * @param onStoreFailure what happens to the requests of a policy during an outage
	 * @param local limits requests in memory
	 * @param isUnanswered returns whether the store did not answer, rather than with an
	 * error
	 */
	public OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure, LocalRateLimiter local,
			Predicate<StoreException> isUnanswered) {
		this(store, onStoreFailure, local, isUnanswered, InstantSource.system());
	}

	OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure, LocalRateLimiter local,
			Predicate<StoreException> isUnanswered, InstantSource clock) {
		super(store);
		this.onStoreFailure = onStoreFailure;
		this.local = local;
		this.isUnanswered = isUnanswered;
		this.clock = clock;
	}

	/** Returns when the current outage began; empty if limits are enforced. */
	public Optional<Instant> failingSince() {
		return Optional.ofNullable(this.outage.get()).map(Outage::since);
	}

	/** Returns the last failure of the current outage; empty if limits are enforced. */
	public Optional<StoreException> lastFailure() {
		return Optional.ofNullable(this.outage.get()).map(Outage::failure);
	}

	/** Returns whether there is an outage in which the store does not answer. */
	public boolean isUnanswered() {
		return isUnanswered(this.outage.get());
	}

	/** Returns how often the store was too busy to answer in time. */
	public long busyCount() {
		return this.busy.sum();
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return tryAcquire(request, this.onStoreFailure);
	}

	/**
	 * Decides a request, given what happens to it if the store fails.
	 * @throws StoreException if the store failed, and a policy denies requests then
	 */
	public Decision tryAcquire(RateLimitRequest request, Function<Policy, OnStoreFailure> onStoreFailure) {
		try {
			Decision decision = super.tryAcquire(request);
			if (decision.allowed() && decision.source() != Source.LEASE) {
				noteAllowed(request, decision);
			}
			return decision;
		}
		catch (StoreException ex) {
			return withoutStore(request, ex, onStoreFailure, this.local::tryAcquire);
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return peek(request, this.onStoreFailure);
	}

	/**
	 * Peeks at a request, given what happens to it if the store fails.
	 * @throws StoreException as {@link #tryAcquire(RateLimitRequest, Function)}
	 */
	public Decision peek(RateLimitRequest request, Function<Policy, OnStoreFailure> onStoreFailure) {
		try {
			return super.peek(request);
		}
		catch (StoreException ex) {
			return withoutStore(request, ex, onStoreFailure, this.local::peek);
		}
	}

	/**
	 * Refunds the cost of a request that the store has allowed, if the store works. The
	 * {@link LocalRateLimiter} refunds what has the source {@link Source#LOCAL}.
	 */
	@Override
	public void refund(RateLimitRequest request) {
		try {
			super.refund(request);
		}
		catch (StoreException ex) {
			noteFailure(request, ex);
		}
	}

	/** Uses the cost of a request, if the store works. */
	@Override
	public void charge(RateLimitRequest request) {
		try {
			super.charge(request);
		}
		catch (StoreException ex) {
			noteFailure(request, ex);
		}
	}

	/** Records a failure of the store, also for a request of others. */
	public void noteFailure(RateLimitRequest request, StoreException failure) {
		noteFailure(request, failure, failure.getMessage() + ": " + failure.reason());
	}

	/**
	 * Records a failure of the store. A busy store does not begin an outage.
	 * @param details sentences for the log, if an outage begins
	 * @return whether an outage has begun
	 */
	public boolean noteFailure(RateLimitRequest request, StoreException failure, String details) {
		if (failure instanceof StoreBusyException) {
			noteBusy(failure);
			return false;
		}
		Instant now = this.clock.instant();
		Outage before = this.outage
			.getAndUpdate((present) -> new Outage((present != null) ? present.since() : now, now, request, failure));
		if (before == null) {
			logger.warn("The store failed: until it answers, the on-store-failure of each policy applies. {}", details);
			logger.debug("The store failed", failure);
		}
		return before == null;
	}

	/**
	 * Records that the store has allowed a request of others, which may end an outage.
	 */
	public void noteAllowed(RateLimitRequest request) {
		noteAllowed(request, Decision.withoutStore());
	}

	private void noteAllowed(RateLimitRequest request, Decision decision) {
		Outage present = this.outage.get();
		if (present != null && isWritten(request, decision) && present.isOver(request, this.clock.instant())
				&& this.outage.compareAndSet(present, null)) {
			logEnd();
		}
	}

	/** Ends an outage in which the store did not answer, but not one of errors. */
	public void storeAnswers() {
		if (isUnanswered(this.outage.getAndUpdate((present) -> isUnanswered(present) ? null : present))) {
			logEnd();
		}
	}

	private static void logEnd() {
		logger.info("The store answers again: limits are enforced");
	}

	private boolean isUnanswered(@Nullable Outage outage) {
		return outage != null && this.isUnanswered.test(outage.failure());
	}

	/** Returns whether something was written, which a full store cannot do. */
	private static boolean isWritten(RateLimitRequest request, Decision decision) {
		return request.charges()
			.stream()
			.anyMatch((charge) -> charge.cost() > 0 && (!charge.shadow() || decision.shadow(charge).allowed()));
	}

	private void noteBusy(StoreException failure) {
		this.busy.increment();
		long now = this.clock.millis();
		long last = this.lastBusy.getAndSet(now);
		if (last == Long.MIN_VALUE || Math.abs(now - last) >= QUIET) {
			logger.warn("The store did not decide in time ({} requests so far): these requests are limited in memory,"
					+ " or denied with on-store-failure: deny, and what they should refund stays counted. {}: {}",
					this.busy.sum(), failure.getMessage(), failure.reason());
		}
	}

	private Decision withoutStore(RateLimitRequest request, StoreException ex,
			Function<Policy, OnStoreFailure> onStoreFailure, Function<RateLimitRequest, Decision> decideLocally) {
		noteFailure(request, ex);
		boolean works = ex instanceof StoreBusyException;
		List<Charge> limited = new ArrayList<>();
		for (Charge charge : request.charges()) {
			OnStoreFailure reaction = onStoreFailure.apply(charge.policy());
			if (reaction == OnStoreFailure.DENY && !charge.shadow()) {
				throw ex;
			}
			if (reaction == OnStoreFailure.LOCAL || works) {
				limited.add(charge);
			}
		}
		if (limited.isEmpty()) {
			return Decision.withoutStore().withShadows(request.shadows(), (charge) -> Decision.withoutStore());
		}
		Decision local = decideLocally.apply(request.withCharges(limited));
		boolean isLimited = limited.stream().anyMatch((charge) -> !charge.shadow());
		return (isLimited ? local : Decision.withoutStore()).withShadows(request.shadows(), local::shadow);
	}

	/**
	 * A period in which the store fails, since the first failure, with the last one.
	 */
	private record Outage(Instant since, Instant latest, RateLimitRequest request, StoreException failure) {

		private static final Duration LONG_AGO = Duration.ofSeconds(10);

		boolean isOver(RateLimitRequest allowed, Instant now) {
			return identifiers(allowed).entrySet().containsAll(identifiers(this.request).entrySet())
					|| !now.isBefore(this.latest.plus(LONG_AGO));
		}

		private static Map<String, List<Identifier>> identifiers(RateLimitRequest request) {
			return request.charges()
				.stream()
				.collect(Collectors.toMap((charge) -> charge.policy().name(), Charge::identifiers));
		}

	}

}
