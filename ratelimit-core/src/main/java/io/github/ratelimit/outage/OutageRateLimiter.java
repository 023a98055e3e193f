package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;

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
 * allows a request of other policies than those that failed last proves nothing either,
 * unless these have not failed for ten seconds: it may fail for some policies only. An
 * interrupt of the thread is no failure of the store.
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
public final class OutageRateLimiter implements RateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(OutageRateLimiter.class);

	private static final Duration LONG_AGO = Duration.ofSeconds(10);

	private final RateLimiter store;

	private final Function<Policy, OnStoreFailure> onStoreFailure;

	private final LocalRateLimiter local;

	private final InstantSource clock;

	private final AtomicReference<@Nullable Failure> failing = new AtomicReference<>();

	/**
	 * Creates a rate limiter.
	 * @param store the store that may fail
	 * @param onStoreFailure what becomes of the requests of a policy while it does
	 * @param local limits the requests of those policies that want it
	 */
	public OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure,
			LocalRateLimiter local) {
		this(store, onStoreFailure, local, InstantSource.system());
	}

	OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure, LocalRateLimiter local,
			InstantSource clock) {
		this.store = store;
		this.onStoreFailure = onStoreFailure;
		this.local = local;
		this.clock = clock;
	}

	/**
	 * Returns since when the store fails, as far as requests have shown: the time of the
	 * first failure after which it has allowed no request.
	 * @return the time, by the clock of this process; empty if limits are enforced
	 */
	public Optional<Instant> failingSince() {
		return Optional.ofNullable(this.failing.get()).map(Failure::since);
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

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	private void answered(RateLimitRequest request) {
		Failure last = this.failing.get();
		if (last != null
				&& (names(request).containsAll(last.policies())
						|| !this.clock.instant().isBefore(last.latest().plus(LONG_AGO)))
				&& this.failing.compareAndSet(last, null)) {
			logger.info("The store answers again: limits are enforced");
		}
	}

	private static Set<String> names(RateLimitRequest request) {
		return request.charges().stream().map((charge) -> charge.policy().name()).collect(Collectors.toSet());
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
		if (ex.isInterrupt()) {
			return;
		}
		Instant now = this.clock.instant();
		Failure before = this.failing
			.getAndUpdate((known) -> new Failure((known != null) ? known.since() : now, now, names(request)));
		if (before == null) {
			logger.warn("The store failed: until it answers, each policy does as its on-store-failure says. {}: {}",
					ex.getMessage(), rootCause(ex).toString());
			logger.debug("The store failed", ex);
		}
	}

	private static Throwable rootCause(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

	/**
	 * The store fails.
	 *
	 * @param since the time of the first failure
	 * @param latest the time of the last failure
	 * @param policies the names of the policies of the request that failed last
	 */
	private record Failure(Instant since, Instant latest, Set<String> policies) {

	}

}
